import type { Project } from '../compiler/compose/project.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Plan } from '../compiler/plan/plan.ts'
import { get, type Tree } from '../compiler/text/tree.ts'
import { compileFiles } from './compile-files.ts'
import type { LoadInput } from './input.ts'
import type { OpenProject } from './opened-project.ts'
import type { OperationContext } from './session.ts'

/** Environment in the cluster, with information from the files in this folder, if any. */
export interface KnownEnvironment {
  /** Name as a DNS label. */
  readonly name: string
  readonly project: Project | undefined
  /** Plan of the files; absent if they have errors. */
  readonly plan: Plan | undefined
  /** Services of the Compose file, for the positions in error messages. */
  readonly services: Tree | undefined
  readonly diagnostics: readonly Diagnostic[]
}

interface Finding extends LoadInput {
  /** Name of the environment, which overrides the name from the files. */
  readonly name?: string | undefined
}

/**
 * Returns the environment that a command is about: `--name`, otherwise the environment of the files. Ignores errors in
 * the files as long as the name can be determined; otherwise reports them and throws a UserError.
 */
export async function findEnvironment(
  { workspace, on }: Pick<OperationContext, 'workspace' | 'on'>,
  options: Finding,
  opened: OpenProject,
): Promise<KnownEnvironment> {
  const { toDnsLabel } = await import('../compiler/plan/object-names.ts')
  const { plan, project, loaded, diagnostics } = await compileFiles(
    workspace,
    [],
    options,
    { name: options.name },
    { project: opened, leavesFoldersToUp: true },
  )
  const name = plan?.environment.name ?? options.name ?? project?.name
  if (name !== undefined)
    return { name: toDnsLabel(name), project, plan, services: get(loaded?.tree, 'services'), diagnostics }
  const nothing = diagnostics.find(({ code }) => code === 'files/no-compose-file')
  if (nothing)
    throw new UserError(nothing.message, {
      hint: 'name a file with `-f`, or an environment in the cluster with `--name`',
    })
  on({ type: 'diagnostics', diagnostics })
  throw new UserError('the name of the environment cannot be derived from the files', { hint: 'set it with `--name`' })
}

/**
 * Returns the name of the environment that a command is about, as a DNS label. If the user names it, the files are not
 * read, so their errors do not matter.
 */
export async function findName(
  world: Pick<OperationContext, 'workspace' | 'on'>,
  options: Finding,
  opened: OpenProject,
): Promise<string> {
  if (options.name === undefined) return (await findEnvironment(world, options, opened)).name
  const { toDnsLabel } = await import('../compiler/plan/object-names.ts')
  return toDnsLabel(options.name)
}
