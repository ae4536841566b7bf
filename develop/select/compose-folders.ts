import { posix } from 'node:path'
import type { BindMount, Service, WatchRule } from '../../compiler/compose/project.ts'
import type { CompilerHost } from '../../compiler/host.ts'
import type { Span } from '../../compiler/text/source.ts'
import { inside, type WatchPatterns } from '../files/watch-patterns.ts'

/** A local folder or file that is available in the container of a service, through a host volume or `develop.watch`. */
export interface ComposeFolder {
  readonly span: Span
  /** Absolute path on this machine. */
  readonly local: string
  /** Absolute path in the container. */
  readonly remote: string
  /**
   * Name of the file in `local`, for a host volume of a single file; nothing else in `local` is synchronized. `remote`
   * is then the path of the file.
   */
  readonly file?: string
  /**
   * Paths, relative to the folder, at which the container has other content, such as another volume or a config. They
   * are not synchronized.
   */
  readonly excluded: readonly string[]
  /**
   * Rules of `develop.watch` for this folder: paths that no rule covers are not synchronized. Empty for a host volume.
   */
  readonly rules: readonly WatchPatterns[]
  /**
   * Direction of the synchronization: with `up`, files are only copied into the container, as with `docker compose
   * watch`.
   */
  readonly direction: 'both' | 'up'
}

/** Folders of a service that can be synchronized, and the reasons why other folders cannot be synchronized. */
export interface ComposeFolders {
  readonly folders: readonly ComposeFolder[]
  readonly problems: readonly FolderProblem[]
}

/** Reason why a path of a service is not synchronized. */
export interface FolderProblem {
  readonly span: Span
  readonly text: string
}

export type FolderHost = Pick<CompilerHost, 'stat' | 'readFile' | 'realPath' | 'outside'>

/** True for rules that copy files into the container. */
export const isSyncRule = ({ action }: WatchRule): boolean => action.value.startsWith('sync')

/**
 * Returns the folders of a service to synchronize: the host volumes that are folders or files of the project, and the
 * paths of `develop.watch`. Omits paths of `develop.watch` that a host volume already mounts at the same container
 * path. Also omits paths that belong only to this machine, such as `~/.aws`, and reports each as a problem.
 */
export function composeFolders(service: Service, host: FolderHost): ComposeFolders {
  const problems: FolderProblem[] = []
  const volumes = service.mounts
    .filter(mount => mount.type === 'bind')
    .filter(mount => isOfProject(mount, host, problems))
    .map(mount => volumePlace(mount, host))
  const watched = watchedFolders(service, host, problems).filter(one => !volumes.some(volume => isIn(one, volume)))
  const groups = withoutClashes(grouped(watched), volumes, problems)
  const remotes = [...new Set([...mountTargets(service), ...groups.map(({ remote }) => remote)])]
  const excludedIn = ({ remote }: Place) => remotes.flatMap(other => inside(other, remote) ?? [])
  return {
    folders: [
      ...volumes.map((one): ComposeFolder => ({ ...one, excluded: excludedIn(one), rules: [], direction: 'both' })),
      ...groups.map((one): ComposeFolder => ({ ...one, excluded: excludedIn(one), direction: 'up' })),
    ],
    problems,
  }
}

interface Place {
  readonly span: Span
  readonly local: string
  readonly remote: string
  readonly file?: string
}

/** Returns the paths of a host volume on both sides. */
function volumePlace({ span, source, target }: BindMount, host: FolderHost): Place {
  // Links are resolved because the links of watched paths are, too.
  const local = host.realPath(source.value)
  const remote = target.value
  if (host.stat(source.value)?.kind === 'folder') return { span, local, remote }
  return { span, local: posix.dirname(local), remote, file: posix.basename(local) }
}

/**
 * True if a host volume already mounts a watched folder at the same container path, either as the host volume itself or
 * as a subfolder of it.
 */
function isIn({ rules, ...one }: WatchedFolder, volume: Place): boolean {
  if (volume.file === undefined) return isSamePlace(one, volume)
  const path = posix.join(volume.local, volume.file)
  return rules.every(rule => rule.path === path) && posix.join(one.remote, volume.file) === volume.remote
}

interface WatchedFolder extends Place {
  readonly rules: readonly WatchPatterns[]
}

/**
 * True if a host volume contains files of the project, rather than data that the cluster keeps or files of this
 * machine.
 */
function isOfProject({ source, as, span }: BindMount, host: FolderHost, problems: FolderProblem[]): boolean {
  const kind = host.stat(source.value)?.kind
  if (kind !== 'folder' && kind !== 'file') return false
  if (as?.value === 'claim') {
    const text = `\`${source.value}\` is not synchronized: with \`x-mount: claim\` the cluster keeps the data`
    problems.push({ span: as.span, text })
    return false
  }
  // Claims do not contain its content.
  if (kind === 'file' && as?.value === 'secret') return false
  const outside = host.outside?.(source.value)
  if (!outside || outside.is === 'allowed') return true
  if (outside.is !== 'system')
    problems.push({ span, text: `\`${source.value}\` is outside the project and is not synchronized` })
  return false
}

/**
 * Returns the paths of the rules that copy files, as folders. For the path of a single file, returns its folder,
 * limited to this file.
 */
function watchedFolders(service: Service, host: FolderHost, problems: FolderProblem[]): readonly WatchedFolder[] {
  return service.watch.filter(isSyncRule).flatMap((rule): readonly WatchedFolder[] => {
    const { path, span } = rule
    const patterns = watchPatterns(rule, service, host)
    const remote = targetOf(rule, service)
    if (host.stat(path.value) === undefined) {
      problems.push({ span: path.span, text: `\`${path.value}\` does not exist and is not synchronized` })
      return []
    }
    if (patterns.isFolder) return [{ span, local: path.value, remote, rules: [patterns] }]
    if (posix.basename(path.value) !== posix.basename(remote)) {
      const text = `\`${path.value}\` is not synchronized to \`${remote}\`: a single file keeps its name`
      problems.push({ span: path.span, text })
      return []
    }
    return [{ span, local: posix.dirname(path.value), remote: posix.dirname(remote), rules: [patterns] }]
  })
}

/**
 * Returns the container path to which a rule copies files. A relative target is resolved against the working directory.
 */
function targetOf({ target }: WatchRule, { workingDir }: Service): string {
  return posix.resolve('/', workingDir?.value ?? '/', target?.value ?? '.')
}

/** Returns the patterns of a rule, with the ignore file of the service's build. */
export function watchPatterns({ path, ignore, include }: WatchRule, service: Service, host: FolderHost): WatchPatterns {
  const file = ignoreFileOf(service, host)
  return {
    path: path.value,
    isFolder: host.stat(path.value)?.kind === 'folder',
    ignore: ignore.map(({ value }) => value),
    include: include.map(({ value }) => value),
    ...(file && { dockerIgnore: file }),
  }
}

/**
 * Returns the ignore file of a build: `<Dockerfile>.dockerignore`, or else the `.dockerignore` of the build context.
 */
function ignoreFileOf({ build }: Service, host: FolderHost): WatchPatterns['dockerIgnore'] {
  const folder = build?.context.value
  if (folder === undefined || !folder.startsWith('/')) return undefined
  const dockerfile = posix.resolve(folder, build?.dockerfile?.value ?? 'Dockerfile')
  for (const path of [`${dockerfile}.dockerignore`, posix.join(folder, '.dockerignore')]) {
    const found = host.readFile(path)
    if (found.kind === 'file') return { folder: host.realPath(folder), text: new TextDecoder().decode(found.bytes) }
  }
  return undefined
}

/**
 * Merges each watched folder into a watched parent folder that is copied to the matching container path. The result has
 * the rules of both folders.
 */
function grouped(watched: readonly WatchedFolder[]): readonly WatchedFolder[] {
  const outer: WatchedFolder[] = []
  // Shortest paths come first, so that each folder comes after its parent folders.
  for (const one of [...watched].sort((a, b) => a.local.length - b.local.length)) {
    const at = outer.findIndex(other => isSamePlace(one, other))
    if (at < 0) outer.push(one)
    else outer[at] = { ...outer[at]!, rules: [...outer[at]!.rules, ...one.rules] }
  }
  return outer
}

/**
 * Removes folders whose container path already belongs to another local folder. The first folder is kept; folders of
 * host volumes precede folders of rules.
 */
function withoutClashes(
  groups: readonly WatchedFolder[],
  volumes: readonly Place[],
  problems: FolderProblem[],
): readonly WatchedFolder[] {
  const taken = new Map(volumes.map(({ remote, local, file = '' }) => [remote, posix.join(local, file)]))
  return groups.filter(({ span, local, remote }) => {
    const other = taken.get(remote)
    if (other === undefined) taken.set(remote, local)
    else problems.push({ span, text: `\`${local}\` is not synchronized: \`${remote}\` is \`${other}\` already` })
    return other === undefined
  })
}

/**
 * True if two folders have the same local path and the same container path, or if `one` is a subfolder of `other` that
 * has the same relative path on both sides.
 */
function isSamePlace(one: Place, other: Place): boolean {
  if (one.local === other.local) return one.remote === other.remote
  const path = inside(one.local, other.local)
  return path !== undefined && one.remote === posix.join(other.remote, path)
}

const mountTargets = ({ mounts, tmpfs, configs, secrets }: Service): readonly string[] =>
  [...mounts.map(({ target }) => target.value), ...[...tmpfs, ...configs, ...secrets].map(({ target }) => target)].map(
    path => posix.resolve('/', path),
  )
