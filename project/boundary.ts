import { delimiter, dirname, resolve, sep } from 'node:path'
import { resolveLinks } from '../adapters/files/real-path.ts'
import type { Outside } from '../compiler/host.ts'
import type { DevctlManifest } from '../compiler/manifest/manifest.ts'
import { isStream } from '../compiler/values/stream-path.ts'
import type { LoadInput } from './input.ts'
import type { OpenProject } from './opened-project.ts'
import { checkoutOf, namedEnvFiles, namedFiles, projectFolder } from './project-folder.ts'
import type { Workspace } from './workspace.ts'

/** Paths that the files of a project may read. */
export interface Boundary {
  /** Absolute paths of folders, with symbolic links resolved. */
  readonly folders: readonly string[]
  /** Absolute paths of the files that the user has named; they may be read wherever they are. */
  readonly named: ReadonlySet<string>
  /** Access to all other paths: not read, read with a warning, or allowed by the user. */
  readonly others: 'refused' | 'read' | 'allowed'
}

/**
 * Returns the paths that a project may read:
 *
 * - its checkout, or its folder if it is not in a checkout
 * - the checkouts or folders of the files that the user names, and of `folders`
 * - the paths in DEVCTL_ALLOW_OUTSIDE
 *
 * If the user names a manifest outside the current checkout, the files that this manifest refers to are treated as if
 * the user had named them.
 */
export function boundaryOf(
  workspace: Workspace,
  loading: LoadInput,
  project: Pick<OpenProject, 'manifest' | 'namesCompose'>,
  folders: readonly string[] = [],
): Boundary {
  const files = namedFiles(workspace, loading).filter(path => path !== '-')
  const absolute = (path: string) => resolve(workspace.cwd, path)
  const trusted = loading.file ? filesOfTrusted(workspace, project) : []
  const named = [...files, ...(namedEnvFiles(workspace, loading) ?? [])].map(absolute).concat(trusted)
  const given = (workspace.env.DEVCTL_ALLOW_OUTSIDE ?? '').split(delimiter).filter(path => path !== '')
  const sources = [
    projectFolder(workspace, loading, project),
    ...folders,
    ...[...files.map(absolute), ...trusted].filter(path => !isStream(path)).map(path => dirname(path)),
  ]
  const all = [...sources.map(checkoutOf), ...given.map(absolute)].map(resolveLinks)
  const outside = loading.allowOutside
    ? 'allowed'
    : workspace.env.CI && workspace.env.CI !== 'false'
      ? 'refused'
      : 'read'
  return { folders: [...new Set(all)], named: new Set(named), others: outside }
}

/**
 * Returns the files named in the manifest, if the manifest is outside the checkout in which devctl runs; otherwise
 * none.
 */
function filesOfTrusted(
  workspace: Workspace,
  { manifest, namesCompose }: Pick<OpenProject, 'manifest' | 'namesCompose'>,
) {
  if (!manifest || namesCompose || isStream(manifest.path)) return []
  if (isWithin(resolveLinks(manifest.path), [resolveLinks(checkoutOf(workspace.cwd))])) return []
  return filesNamedBy(manifest)
}

/** Returns the absolute paths of the Compose and env files in a manifest, including the files of its environments. */
export function filesNamedBy({ folder, deploy, environments }: DevctlManifest): readonly string[] {
  const files = [
    ...(deploy?.compose?.files ?? []),
    ...[...environments.values()].flatMap(one => [...one.compose, ...one.envFiles]),
  ]
  return files.map(({ value }) => resolve(folder, value))
}

/**
 * Folders that only the system writes to. `/dev/null` is allowed nevertheless, because it is harmless and commonly
 * used.
 */
const SYSTEM = ['/proc', '/sys', '/dev']

/**
 * Returns how a path outside the project is treated. Returns undefined for a path inside the project, for a file that
 * the user has named, and for `/dev/null`.
 */
export function outsideOf(path: string, { folders, named, others }: Boundary): Outside | undefined {
  if (named.has(path) || path.includes('\0')) return undefined
  const real = resolveLinks(path)
  if (real === '/dev/null') return undefined
  const isSystem = isWithin(real, SYSTEM) || isWithin(path, SYSTEM)
  if (!isSystem && isWithin(real, folders)) return undefined
  if (others === 'allowed') return { path: real, is: 'allowed' }
  return { path: real, is: isSystem ? 'system' : others }
}

const isWithin = (path: string, folders: readonly string[]): boolean =>
  folders.some(folder => path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`))
