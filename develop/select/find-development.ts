import { join } from 'node:path'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { ReportedError, UsageError } from '../../compiler/diagnostics/user-error.ts'
import type { Development } from '../../compiler/manifest/development.ts'
import type { Forward } from '../../compiler/manifest/forward.ts'
import type { DevctlManifest } from '../../compiler/manifest/manifest.ts'
import { type Boundary, boundaryOf, filesNamedBy } from '../../project/boundary.ts'
import type { LoadInput } from '../../project/input.ts'
import { composeFileIn, composeFilesIn } from '../../project/names/environment-name.ts'
import { manifestOf } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { LocalContext } from '../../project/session.ts'
import type { UpEvent } from '../events.ts'
import type { ActionRule } from '../files/watch-actions.ts'
import { type ChooseDev, chooseDev } from './choose.ts'
import type { WhichDevelopment } from './compose-development.ts'
import type { ComposeFolder } from './compose-folders.ts'

/** Input of commands for one development container. */
export interface DevelopmentInput extends LoadInput {
  /**
   * Name of the development container. If absent, the only development container of the manifest is used, or the one
   * that the user chooses.
   */
  readonly dev?: string | undefined
  readonly choose?: ChooseDev | undefined
}

/** Input of commands for several development containers. */
export interface SeveralInput {
  /**
   * Names of the development containers. If absent or empty, the only development container is used, or the one that
   * the user chooses.
   */
  readonly devs?: readonly string[] | undefined
  /** True for all development containers of the manifest, or all services of the Compose file that can be developed. */
  readonly all?: boolean | undefined
}

/** A development container from a manifest, or from a Compose file alone. */
export interface FoundDevelopment {
  readonly development: Development
  /** Name of the service in the Compose file. Absent if the manifest alone describes the development container. */
  readonly service?: string
  /** Absolute path of the folder that paths in the manifest or the Compose file are relative to. */
  readonly folder: string
  /** Forwards that the manifest defines at the top level. */
  readonly forward: readonly Forward[]
  /**
   * True if another session of this process already opens the forwards of the manifest. The session of this development
   * container opens them only after the other session has ended.
   */
  readonly isSpare?: boolean
  /** True if a deploy can create the workload of the development container. */
  readonly hasDeploy: boolean
  /** Absolute paths of the files that determine which programs run on this machine, including the manifest. */
  readonly sources: readonly string[]
  /** Folders of `sync`, if they come from the host volumes of a service instead of the manifest. */
  readonly composeFolders?: readonly ComposeFolder[]
  /** Names of the container variables that occur in the project's files; undefined unless the mode is hybrid. */
  readonly named?: ReadonlySet<string>
  /** Boundary of the paths that `sync` of the manifest may contain; paths outside it are refused. */
  readonly boundary?: Boundary
  /** Actions on changed files, besides synchronizing them. */
  readonly actions: readonly ActionRule[]
  /** True if the container runs the program of its service, whose output is shown. */
  readonly runsService: boolean
  /** Messages about paths that are not synchronized, with their positions. */
  readonly notes: readonly string[]
}

/**
 * Returns the name by which a deploy refers to the service of a development container: the name in the Compose file if
 * there is one.
 */
export const deployedName = ({ service, development }: Pick<FoundDevelopment, 'service' | 'development'>): string =>
  service ?? development.name

type FindingWorld = Pick<LocalContext<UpEvent>, 'workspace' | 'on'>

/**
 * Returns the names of the development containers in the manifest; undefined if the manifest declares none, or if there
 * is no manifest.
 */
function developmentNames(project: OpenProject): readonly string[] | undefined {
  const dev = manifestOf(project)?.dev
  return dev && dev.size > 0 ? [...dev.values()].map(({ name }) => name) : undefined
}

/**
 * Returns the names for `--all`: the development containers of the manifest, or else the services of the Compose file
 * that can be developed. Throws a UserError if there are none.
 */
async function allDevelopments(
  world: FindingWorld,
  input: Omit<DevelopmentInput, 'dev' | 'choose'>,
  project: OpenProject,
): Promise<readonly string[]> {
  refuseMistakes(world, project)
  const names = developmentNames(project)
  if (names) return names
  const { composeCandidates } = await import('./compose-development.ts')
  const found = await composeCandidates(world.workspace, input, project)
  return found.kind === 'found' ? found.names : refused(world, found.diagnostics)
}

/**
 * Returns the Kubernetes names of the development containers for a command, without duplicates: the named ones or, with
 * `all`, all of them. Without either, returns the only name or the one that the user chooses. Throws a UsageError if
 * `devs` and `all` are combined.
 */
export async function namedDevelopments(
  world: FindingWorld,
  { devs, all, ...input }: Omit<DevelopmentInput, 'dev'> & SeveralInput,
  project: OpenProject,
): Promise<readonly string[]> {
  const given = [...new Set(devs)]
  if (all && given.length > 0)
    throw new UsageError('`--all` is for all development containers', { hint: `leave out \`${given.join(' ')}\`` })
  if (all) return allDevelopments(world, input, project)
  const one = async (dev: string | undefined) =>
    (await findDevelopment(world, { ...input, dev }, project)).development.name
  // A service may be given by its name in the Compose file and by its name in Kubernetes.
  return [...new Set(await Promise.all(given.length > 0 ? given.map(one) : [one(undefined)]))]
}

/**
 * Finds the development container for a command: in the manifest, or else the service of the Compose file that can be
 * developed. Throws a UserError if none exists, or if there are several and the user cannot be asked.
 */
export async function findDevelopment(
  world: FindingWorld,
  input: DevelopmentInput,
  project: OpenProject,
): Promise<FoundDevelopment> {
  refuseMistakes(world, project)
  const manifest = manifestOf(project)
  const names = developmentNames(project)
  if (!manifest || !names) return ofCompose(world, input, project)
  const chosen = await chooseDev(names, input.dev, input.choose)
  const development = [...manifest.dev.values()][names.indexOf(chosen)]!
  const base = {
    development,
    folder: manifest.folder,
    sources: filesOf(manifest),
    forward: manifest.forward,
    hasDeploy:
      manifest.deploy !== undefined || (!development.autocreate && composeFileIn(manifest.folder) !== undefined),
    actions: [],
    runsService: false,
    notes: [],
  }
  const boundary = boundaryOf(world.workspace, input, project)
  if (development.mode === 'hybrid') {
    const { composeVariables } = await import('./compose-development.ts')
    const ofService = await composeVariables(world.workspace, input, project, development)
    return { ...base, boundary, named: new Set([...manifest.variables, ...ofService]) }
  }
  if (development.sync) return { ...base, boundary }
  const { folder: _, ...compose } = await inCompose(world, input, project, { declared: development })
  return { ...base, ...compose, sources: [...base.sources, ...compose.sources] }
}

async function ofCompose(
  world: FindingWorld,
  input: DevelopmentInput,
  project: OpenProject,
): Promise<FoundDevelopment> {
  const found = await inCompose(world, input, project, { service: input.dev, choose: input.choose })
  const manifest = manifestOf(project)
  const sources = [...(manifest ? filesOf(manifest) : []), ...found.sources]
  return { ...found, sources, forward: manifest?.forward ?? [], hasDeploy: true }
}

/**
 * Returns the paths of the files that a manifest depends on: the manifest itself, `.env` and the Compose files in its
 * folder, and the Compose and env files that the manifest names.
 */
function filesOf(manifest: DevctlManifest): readonly string[] {
  const { path, folder } = manifest
  const beside = composeFilesIn(folder).map(one => join(folder, one))
  return [path, join(folder, '.env'), ...beside, ...filesNamedBy(manifest)]
}

async function inCompose(world: FindingWorld, input: DevelopmentInput, project: OpenProject, which: WhichDevelopment) {
  const { composeDevelopment } = await import('./compose-development.ts')
  const found = await composeDevelopment(world.workspace, input, project, which)
  if (found.kind === 'found') {
    const { kind: _, folders: composeFolders, ...rest } = found
    return { ...rest, composeFolders }
  }
  return refused(world, found.diagnostics)
}

function refused({ on }: FindingWorld, diagnostics: readonly Diagnostic[]): never {
  on({ type: 'diagnostics', diagnostics })
  throw new ReportedError()
}

/**
 * Reports the errors of the manifest. Throws if there are any, because the rest of the manifest may not be what its
 * author intended.
 */
function refuseMistakes(world: FindingWorld, { diagnostics }: OpenProject): void {
  if (diagnostics.some(({ severity }) => severity === 'error')) refused(world, diagnostics)
}
