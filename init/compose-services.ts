import { basename, join, relative } from 'node:path'
import type { Service } from '../compiler/compose/project.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import type { CompilerHost } from '../compiler/host.ts'
import type { DevctlManifest } from '../compiler/manifest/manifest.ts'
import { planNames } from '../compiler/plan/names.ts'
import { builtImage } from '../compiler/plan/pod/built-image.ts'
import { isStream } from '../compiler/values/stream-path.ts'
import { candidatesOf } from '../develop/select/candidates.ts'
import { boundaryOf } from '../project/boundary.ts'
import { compileFiles } from '../project/compile-files.ts'
import { composeFileIn } from '../project/names/environment-name.ts'
import { createHost } from '../project/node-host.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { Workspace } from '../project/workspace.ts'
import type { Guess } from './application.ts'

/** Compose files of a project, and the services that can be developed with `up`. */
export interface FoundCompose {
  /** Files in merge order, relative to the project's folder. */
  readonly files: readonly string[]
  /**
   * True if the manifest has to name the files, because without the shell's `COMPOSE_FILE` other files, or none, would
   * be found.
   */
  readonly isNamedByShell: boolean
  readonly services: readonly DevelopedService[]
  /** True if the files have errors, so that there may be more services. */
  readonly hasErrors: boolean
}

/** Service that `up` can work on, because its files are on this machine. */
export interface DevelopedService {
  readonly name: string
  /** Folders as `LOCAL:REMOTE`, relative to the project's folder. */
  readonly folders: readonly string[]
  /** Published ports as `LOCAL:REMOTE`. */
  readonly ports: readonly string[]
  /** Command of the service, if its Compose file or its Dockerfile sets one. */
  readonly command?: Guess<readonly string[]>
}

/**
 * Compiles the Compose files that `deploy` would read with a manifest at this path. Returns the services that `up`
 * would work on, with the diagnostics; the result is undefined if there are no Compose files.
 */
export async function findCompose(
  workspace: Workspace,
  path: string,
  folder: string,
): Promise<{ readonly compose: FoundCompose; readonly diagnostics: readonly Diagnostic[] } | undefined> {
  const opened = projectOf(path, folder)
  const { project, loaded, diagnostics, hasNoCompose } = await compileFiles(workspace, [], {}, {}, { project: opened })
  if (hasNoCompose) return undefined
  const found = loaded?.files ?? []
  const base = {
    files:
      found.length > 0
        ? found.map(one => (isStream(one) ? one : relative(folder, one)))
        : [composeFileIn(folder) ?? 'compose.yaml'],
    isNamedByShell: await isNamedByShell(workspace, opened, found),
  }
  const host = createHost({ env: workspace.env, boundary: boundaryOf(workspace, {}, opened) })
  const candidates = project && !hasErrors(diagnostics) ? candidatesOf(project, host) : []
  const names = project && planNames(project, {}, new Reporter())
  const services = candidates.map(({ service, folders }) => ({
    name: names?.of(service.name) ?? service.name,
    folders: folders.map(({ local, remote, file = '' }) => `${relative(folder, join(local, file)) || '.'}:${remote}`),
    ports: publishedPorts(service),
    ...commandOf(service, host, folder),
  }))
  return { compose: { ...base, services, hasErrors: hasErrors(diagnostics) }, diagnostics }
}

/**
 * Returns a project whose manifest, at the given path, is empty. The file itself may be missing, or have content that
 * is going to be replaced.
 */
function projectOf(path: string, folder: string): OpenProject & { readonly manifest: DevctlManifest } {
  const manifest = { path, shown: basename(path), folder, build: new Map(), variables: new Set<string>() }
  const sections = { dev: new Map(), dependencies: [], forward: [], environments: new Map() }
  return { manifest: { ...manifest, ...sections }, diagnostics: [], namesCompose: false }
}

/**
 * Returns true if the shell names the Compose files (`COMPOSE_FILE`), and other files or none would be found without
 * this variable.
 */
async function isNamedByShell(workspace: Workspace, project: OpenProject, files: readonly string[]): Promise<boolean> {
  const { COMPOSE_FILE, COMPOSE_PATH_SEPARATOR: _, ...env } = workspace.env
  if (!COMPOSE_FILE) return false
  const { loaded } = await compileFiles({ ...workspace, env }, [], {}, {}, { project, until: 'loaded' })
  return loaded?.files.join('\n') !== files.join('\n')
}

const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some(({ severity }) => severity === 'error')

function publishedPorts({ ports }: Service): readonly string[] {
  const published = ports.filter(({ protocol, published }) => protocol === 'TCP' && /^\d+$/.test(published ?? ''))
  return [...new Set(published.map(({ published, target }) => `${published}:${target}`))]
}

/** Returns the command of a service. Omits a command with a variable, because the manifest would substitute it. */
function commandOf(service: Service, host: CompilerHost, folder: string): Pick<DevelopedService, 'command'> {
  const { entrypoint, command, build } = service
  const image = builtImage({ host, reporter: new Reporter() }, service)
  const first = entrypoint?.words ?? image?.entrypoint ?? []
  // The image's command is not appended to an entrypoint of the Compose file.
  const rest = command?.words ?? (entrypoint ? [] : (image?.cmd ?? []))
  const words = [...first, ...rest]
  if (words.length === 0 || words.some(word => word.includes('$'))) return {}
  if (!build || (command && (entrypoint || !image?.entrypoint))) return { command: { value: words } }
  const path = relative(folder, join(build.context.value, build.dockerfile?.value ?? 'Dockerfile'))
  return { command: { value: words, from: command || entrypoint ? `${path} and the Compose file` : path } }
}

/** Joins names for a sentence: `a`, `a and b`, `a, b and c`. */
export const joined = (names: readonly string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '')
