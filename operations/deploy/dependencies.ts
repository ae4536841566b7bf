import { rmSync } from 'node:fs'
import { makeTemporaryFolder } from '../../adapters/files/temporary-folder.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { DevctlManifest, ManifestDependency } from '../../compiler/manifest/manifest.ts'
import { toDnsLabel } from '../../compiler/plan/object-names.ts'
import { readRecord } from '../../environment/record/record.ts'
import { readKept } from '../../environment/record/secret-marks.ts'
import { plainAddress } from '../../project/deploy-source.ts'
import type { LoadInput } from '../../project/input.ts'
import { openProject } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { DeployEvent } from './events.ts'
import type { DeployInput } from './input.ts'
import type { DeployOutcome } from './outcome.ts'

/** Deploys one project; `above` are the repositories that depend on it. */
type DeployProject = (
  world: OperationContext<DeployEvent>,
  input: DeployInput,
  project: OpenProject,
  above: readonly string[],
) => Promise<DeployOutcome>

/**
 * Position of a project among the repositories that depend on each other, and the function that deploys a dependency.
 */
interface DependenciesContext {
  /** Repositories that depend on the project, the nearest last. */
  readonly above: readonly string[]
  /** Variables that the commands of dependencies passed on, by the names of the dependencies. */
  readonly outputs: Map<string, Readonly<Record<string, string>>>
  readonly deploy: DeployProject
}

/**
 * Deploys the repositories that a manifest depends on, one after another and each after its own dependencies. Skips
 * repositories that are already in the namespace, unless the input has `dependencies`. For dependencies with `wait`,
 * adds the variables that the dependency's commands passed on to `outputs`. Reports each outcome, and returns false
 * after the first failure. Throws a UserError for a cycle, and for a repository that cannot be cloned.
 */
export async function deployDependencies(
  world: OperationContext<DeployEvent>,
  input: DeployInput,
  { dependencies }: DevctlManifest,
  { above, outputs, deploy }: DependenciesContext,
): Promise<boolean> {
  const { workspace, session, on } = world
  const { cluster, namespace, signal } = session
  for (const dependency of dependencies) {
    const { name, repository, wait } = dependency
    const address = plainAddress(repository.value)
    if (above.includes(address))
      throw new UserError(`\`${name}\` depends on itself`, { notes: [[...above, address].join(' → ')] })
    const record = await readRecord(cluster, toDnsLabel(name), namespace, { signal })
    if (record && !record.ending && !input.dependencies) {
      on({ type: 'note', text: `${name} is already deployed; \`--dependencies\` deploys it again` })
      if (wait) outputs.set(name, (await readKept(cluster, toDnsLabel(name), namespace, { signal }))?.variables ?? {})
      continue
    }
    on({ type: 'note', text: `deploying ${name} from ${address}` })
    const outcome = await inClone(world, dependency, async folder => {
      const inside = ownWorkspace(workspace, dependency, folder)
      const own: DeployInput = {
        ...ownOptions(input, dependency),
        wait,
        services: [],
        replicas: undefined,
        rerun: undefined,
        image: undefined,
        imagesFile: undefined,
        isVarPublic: true,
      }
      const project = await openProject(inside, own)
      const limit = dependency.timeout?.value
      const limited = limit === undefined ? signal : withTimeLimit(limit, signal)
      return deploy({ ...world, workspace: inside, session: { ...session, signal: limited } }, own, project, [
        ...above,
        address,
      ])
    })
    on({ type: 'dependency', outcome })
    if (outcome.kind === 'failed' && 'ended' in outcome) throw outcome.ended
    if (outcome.kind !== 'deployed') return false
    if (wait) outputs.set(name, outcome.variables)
  }
  return true
}

/**
 * Returns the options for a dependency: the options of the project that depends on it, with the dependency's name,
 * manifest and variables instead of the options about files and variables.
 */
export function ownOptions<Values extends LoadInput>(options: Values, dependency: ManifestDependency) {
  const { name, manifest, variables } = dependency
  return {
    ...options,
    file: manifest && [manifest.value],
    projectDirectory: undefined,
    envFile: undefined,
    environment: undefined,
    profile: undefined,
    name,
    var: variables.length > 0 ? variablesOf(dependency) : undefined,
  }
}

/** Variables that select the files, the services and the name of the project in the current folder, as options do. */
const OF_PROJECT = new Set([
  'COMPOSE_ENV_FILES',
  'COMPOSE_FILE',
  'COMPOSE_PATH_SEPARATOR',
  'COMPOSE_PROFILES',
  'COMPOSE_PROJECT_NAME',
])

/** Returns the workspace for a dependency: its clone, and the variables that the manifest sets for it. */
export function ownWorkspace(workspace: Workspace, dependency: ManifestDependency, folder: string): Workspace {
  const shared = Object.entries(workspace.env).filter(([name]) => !OF_PROJECT.has(name))
  return { ...workspace, cwd: folder, env: { ...Object.fromEntries(shared), ...variablesOf(dependency) } }
}

const variablesOf = ({ variables }: ManifestDependency): Readonly<Record<string, string>> =>
  Object.fromEntries(variables.map(({ name, value }) => [name, value]))

/**
 * Clones a repository with the user's git and credentials, runs `work` in the clone, and deletes the clone. Throws a
 * UserError if the repository cannot be cloned.
 */
export async function inClone<Result>(
  { workspace, session: { signal } }: Pick<OperationContext, 'workspace' | 'session'>,
  { name, repository, branch, span }: ManifestDependency,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const { GitFailure, openGit } = await import('../../adapters/git/git.ts')
  const folder = makeTemporaryFolder('devctl-dependency-')
  try {
    const git = openGit(folder, { env: workspace.env, signal })
    const options = ['--quiet', '--depth=1', ...(branch ? [`--branch=${branch.value}`] : [])]
    await git.run('clone', ...options, '--', repository.value, '.')
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true })
    if (!(cause instanceof GitFailure)) throw cause
    const { line } = span.file.position(span.start)
    const said = cause.said.split('\n').filter(text => text !== '')
    throw new UserError(`the dependency \`${name}\` cannot be cloned`, {
      notes: [`${span.file.path}:${line}`, ...said.slice(-4)],
      hint: 'check that `git clone` works; a private repository needs a credential helper or an ssh key',
      cause,
    })
  }
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
