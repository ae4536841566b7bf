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

/** The input of the commands about a development container. */
export interface DevelopmentInput extends LoadInput {
  /** Absent: the only one of the manifest, or the one that is chosen. */
  readonly dev?: string | undefined
  readonly choose?: ChooseDev | undefined
}

/** The input of the commands that take several development containers. */
export interface SeveralInput {
  /** Absent or empty: the only one, or the one that is chosen. */
  readonly devs?: readonly string[] | undefined
  /** True for all of the manifest, or all services of the Compose file that can be worked on. */
  readonly all?: boolean | undefined
}

/** A development container of a manifest, or of a Compose file alone. */
export interface FoundDevelopment {
  readonly development: Development
  /** Absolute: what the paths of the manifest, or of the Compose file, are relative to. */
  readonly folder: string
  /** The forwards of the manifest as a whole. */
  readonly forward: readonly Forward[]
  /** True if another session of this process has these forwards, and this one opens them when it ends. */
  readonly isSpare?: boolean
  /** True if a deploy can create its workload. */
  readonly hasDeploy: boolean
  /** The files that say what runs on this machine, the manifest among them: absolute paths. */
  readonly sources: readonly string[]
  /** The folders of `sync`, where they are the host volumes of a service. */
  readonly composeFolders?: readonly ComposeFolder[]
  /** The names of the variables of the container that the files of the project name; in hybrid mode only. */
  readonly named?: ReadonlySet<string>
  /** The paths that `sync` of the manifest may name. */
  readonly boundary?: Boundary
  /** Actions for changed files, besides synchronizing them. */
  readonly actions: readonly ActionRule[]
  /** True if the container runs the program of its service, whose output is shown. */
  readonly runsService: boolean
  /** Messages about what is not synchronized, with its position. */
  readonly notes: readonly string[]
}

type FindingWorld = Pick<LocalContext<UpEvent>, 'workspace' | 'on'>

/** The names of the development containers; undefined where a Compose file alone says what they are. */
function developmentNames(project: OpenProject): readonly string[] | undefined {
  const dev = manifestOf(project)?.dev
  return dev && dev.size > 0 ? [...dev.values()].map(({ name }) => name) : undefined
}

/**
 * The names of those that `--all` is about: of the manifest, else the services of the Compose file
 * that people work on. Throws a UserError if there is none.
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

/** The names that a command is about, each once: those that are given, or all. Throws a UsageError for both. */
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
  return Promise.all(given.length > 0 ? given.map(one) : [one(undefined)])
}

/**
 * Finds the development container for a command: in the manifest, else the service of the Compose file that can be
 * developed. Throws a UserError if none exists, and for several if the user cannot be asked.
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

/** A manifest, and the Compose and env files that it names, or that are read beside it. */
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
 * Reports the mistakes of the manifest and throws, where there are errors: what is left of it is not what its author
 * wants.
 */
function refuseMistakes(world: FindingWorld, { diagnostics }: OpenProject): void {
  if (diagnostics.some(({ severity }) => severity === 'error')) refused(world, diagnostics)
}
