import { posix } from 'node:path'
import type { BindMount, Service, WatchRule } from '../../compiler/compose/project.ts'
import type { CompilerHost } from '../../compiler/host.ts'
import type { Span } from '../../compiler/text/source.ts'
import { inside, type WatchPatterns } from '../files/watch-patterns.ts'

/** A folder or file of this machine that a service has in its container, by a host volume or by `develop.watch`. */
export interface ComposeFolder {
  readonly span: Span
  /** Absolute path on this machine. */
  readonly local: string
  /** Absolute, in the container. */
  readonly remote: string
  /**
   * Name of the file in `local`, for a host volume of a file; nothing else in `local` is synchronized. `remote` is the
   * file, too.
   */
  readonly file?: string
  /**
   * Paths in it, relative, where the container has something else: another volume, a config. They are not synchronized.
   */
  readonly excluded: readonly string[]
  /**
   * The rules of `develop.watch` that bring it here: what none of them is about is not synchronized. Empty: a host
   * volume.
   */
  readonly rules: readonly WatchPatterns[]
  /** `up`: files only travel into the container, as with `docker compose watch`. */
  readonly direction: 'both' | 'up'
}

/** The folders of a service, and what cannot be one. */
export interface ComposeFolders {
  readonly folders: readonly ComposeFolder[]
  readonly problems: readonly FolderProblem[]
}

/** Reason why something of a service is not synchronized. */
export interface FolderProblem {
  readonly span: Span
  readonly text: string
}

export type FolderHost = Pick<CompilerHost, 'stat' | 'readFile' | 'realPath' | 'outside'>

/** Rules that copy files into the container. */
export const isSyncRule = ({ action }: WatchRule): boolean => action.value.startsWith('sync')

/**
 * The folders of a service that are synchronized: its host volumes that are folders or files of the
 * project, and the paths of `develop.watch` that are not in one of them at the same place already. What only
 * belongs to this machine, such as `~/.aws`, is left out with a problem.
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
  // A watched path has its links resolved, too.
  const local = host.realPath(source.value)
  const remote = target.value
  if (host.stat(source.value)?.kind === 'folder') return { span, local, remote }
  return { span, local: posix.dirname(local), remote, file: posix.basename(local) }
}

/** True if what is watched is a host volume already, or in one at the same place. */
function isIn({ rules, ...one }: WatchedFolder, volume: Place): boolean {
  if (volume.file === undefined) return isSamePlace(one, volume)
  const path = posix.join(volume.local, volume.file)
  return rules.every(rule => rule.path === path) && posix.join(one.remote, volume.file) === volume.remote
}

interface WatchedFolder extends Place {
  readonly rules: readonly WatchPatterns[]
}

/** True if a host volume is something to work on: not data that the cluster keeps, nor the machine's own. */
function isOfProject({ source, as, span }: BindMount, host: FolderHost, problems: FolderProblem[]): boolean {
  const kind = host.stat(source.value)?.kind
  if (kind !== 'folder' && kind !== 'file') return false
  if (as?.value === 'claim') {
    const text = `\`${source.value}\` is not synchronized: with \`x-mount: claim\` the cluster keeps the data`
    problems.push({ span: as.span, text })
    return false
  }
  // Its content is kept from claims.
  if (kind === 'file' && as?.value === 'secret') return false
  const outside = host.outside?.(source.value)
  if (!outside || outside.is === 'allowed') return true
  if (outside.is !== 'system')
    problems.push({ span, text: `\`${source.value}\` is outside the project and is not synchronized` })
  return false
}

/** The paths of rules that copy files, as folders; a single file is the only one that is included of its folder. */
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

/** Returns the path to which a rule copies its path. A relative target is resolved against the working directory. */
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

/** `<Dockerfile>.dockerignore`, else `.dockerignore` of the context. */
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

/** Rules about one folder, or about folders in it at the same place in the container, are one folder. */
function grouped(watched: readonly WatchedFolder[]): readonly WatchedFolder[] {
  const outer: WatchedFolder[] = []
  // The shortest are first, so each folder comes after those that it may be in.
  for (const one of [...watched].sort((a, b) => a.local.length - b.local.length)) {
    const at = outer.findIndex(other => isSamePlace(one, other))
    if (at < 0) outer.push(one)
    else outer[at] = { ...outer[at]!, rules: [...outer[at]!.rules, ...one.rules] }
  }
  return outer
}

/** A folder of the container can be only one of this machine: the first stays, and host volumes before rules. */
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

/** True if a folder is another one, or in it at the same place in the container. */
function isSamePlace(one: Place, other: Place): boolean {
  if (one.local === other.local) return one.remote === other.remote
  const path = inside(one.local, other.local)
  return path !== undefined && one.remote === posix.join(other.remote, path)
}

const mountTargets = ({ mounts, tmpfs, configs, secrets }: Service): readonly string[] =>
  [...mounts.map(({ target }) => target.value), ...[...tmpfs, ...configs, ...secrets].map(({ target }) => target)].map(
    path => posix.resolve('/', path),
  )
