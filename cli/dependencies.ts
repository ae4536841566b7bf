import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Dependency, Manifest } from '../compiler/manifest/manifest.ts'
import { toDnsLabel } from '../compiler/plan/object-names.ts'
import { readRecord } from '../environment/record.ts'
import { readKept } from '../environment/secret-marks.ts'
import { plainAddress } from '../operations/project/deploy-source.ts'
import { openProject } from '../operations/project/open-project.ts'
import type { OpenProject } from '../operations/project/opened-project.ts'
import type { Session } from './cluster-session.ts'
import type { Context } from './command.ts'
import type { Deployed, DeployValues } from './deploy-values.ts'
import type { DestroyValues } from './destroy-values.ts'
import type { Progress } from './progress/events.ts'
import type { LoadingValues } from './project-options.ts'

/** Deploys one project; `above` are the repositories that depend on it. */
type DeployProject = (
  context: Context,
  options: DeployValues,
  project: OpenProject,
  session: Session,
  progress: Progress,
  above: readonly string[],
) => Promise<Deployed>

/** Destroys one project under its name, and gives the exit status. */
type DestroyProject = (
  context: Context,
  options: DestroyValues,
  project: OpenProject,
  name: string,
  session: Session,
  progress: Progress,
  above: readonly string[],
) => Promise<number>

/**
 * Deploys the repositories that a manifest depends on, one after another and each with its own first, unless they are in the namespace already
 * (`--dependencies` deploys them all the same). Puts what their commands handed on into `outputs`, for those that are waited for. Gives the status of the
 * first that fails. Throws a UserError for a circle, and for a repository that cannot be cloned.
 */
export async function deployDependencies(
  context: Context,
  options: DeployValues,
  { dependencies }: Manifest,
  session: Session,
  progress: Progress,
  above: readonly string[],
  outputs: Map<string, Readonly<Record<string, string>>>,
  deployProject: DeployProject,
): Promise<number> {
  const { cluster, namespace, signal } = session
  for (const dependency of dependencies) {
    const { name, repository, wait } = dependency
    const address = plainAddress(repository.value)
    if (above.includes(address))
      throw new UserError(`\`${name}\` depends on itself`, { notes: [[...above, address].join(' → ')] })
    const record = await readRecord(cluster, toDnsLabel(name), namespace, { signal })
    if (record && !record.ending && !options.dependencies) {
      progress.tell({ type: 'note', text: `${name} is deployed already; \`--dependencies\` deploys it again` })
      if (wait) outputs.set(name, (await readKept(cluster, toDnsLabel(name), namespace, { signal }))?.variables ?? {})
      continue
    }
    progress.tell({ type: 'note', text: `deploying ${name} from ${address}` })
    const status = await inClone(context, dependency, session, async folder => {
      const variables = Object.fromEntries(dependency.variables.map(({ name, value }) => [name, value]))
      const io = { ...context.io, cwd: folder, env: { ...context.io.env, ...variables } }
      const own: DeployValues = {
        ...ownOptions(options, dependency),
        wait,
        services: [],
        rerun: undefined,
        image: undefined,
        imagesFile: undefined,
        var: Object.keys(variables).length > 0 ? variables : undefined,
        isVarPublic: true,
      }
      const project = await openProject(io, own)
      const limit = dependency.timeout?.value
      const limited = limit === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(limit)])
      const inner = { ...session, signal: limited }
      const result = await deployProject({ ...context, io }, own, project, inner, progress, [...above, address])
      if (result.status === 0 && wait) outputs.set(name, result.variables ?? {})
      return result.status
    })
    if (status !== 0) return status
  }
  return 0
}

/** Destroys the repositories that a manifest depends on, the last first and each before its own. Gives the status of the first that fails. */
export async function destroyDependencies(
  context: Context,
  options: DestroyValues,
  { dependencies }: Manifest,
  session: Session,
  progress: Progress,
  above: readonly string[],
  destroyProject: DestroyProject,
): Promise<number> {
  const { cluster, namespace, signal } = session
  for (const dependency of [...dependencies].reverse()) {
    const { name, repository } = dependency
    const address = plainAddress(repository.value)
    if (above.includes(address) || !(await readRecord(cluster, toDnsLabel(name), namespace, { signal }))) continue
    const status = await inClone(context, dependency, session, async folder => {
      const io = { ...context.io, cwd: folder }
      const own = { ...ownOptions(options, dependency), services: [] }
      const project = await openProject(io, own)
      return destroyProject({ ...context, io }, own, project, name, session, progress, [...above, address])
    })
    if (status !== 0) return status
  }
  return 0
}

/** Options for a dependency: its name and its own manifest, in place of what they say about the files above it. */
function ownOptions<Values extends LoadingValues>(options: Values, { name, manifest }: Dependency) {
  const file = manifest && [manifest.value]
  return { ...options, file, projectDirectory: undefined, environment: undefined, name }
}

/** Clones a repository with the user's own git and credentials, does the work in it, and removes it again. Throws a UserError. */
export async function inClone<Result>(
  { io }: Context,
  { name, repository, branch, span }: Dependency,
  { signal }: Session,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const { GitFailure, openGit } = await import('../gitops/git.ts')
  const folder = mkdtempSync(join(tmpdir(), 'devctl-dependency-'))
  try {
    const git = openGit(folder, { env: io.env, signal })
    const options = ['--quiet', '--depth=1', ...(branch ? [`--branch=${branch.value}`] : [])]
    await git.run('clone', ...options, '--', repository.value, '.')
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true })
    if (!(cause instanceof GitFailure)) throw cause
    const { line } = span.file.position(span.start)
    const said = cause.said.split('\n').filter(text => text !== '')
    throw new UserError(`the dependency \`${name}\` cannot be cloned`, {
      notes: [`${span.file.path}:${line}`, ...said.slice(-4)],
      hint: 'can you clone it with `git clone`? A private repository needs a credential helper or an ssh key',
      cause,
    })
  }
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
