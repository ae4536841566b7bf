import type { Project } from '../compiler/compose/project.ts'
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Plan } from '../compiler/plan/plan.ts'
import { get, type Tree } from '../compiler/text/tree.ts'
import { compileFiles } from './compile-files.ts'
import type { LoadInput } from './input.ts'
import type { OpenProject } from './opened-project.ts'
import type { OperationContext } from './session.ts'

/**
 * An environment that is in the cluster, and what the files in this folder say of it, if there are
 * any.
 */
export interface KnownEnvironment {
  /** DNS label. */
  readonly name: string
  readonly project: Project | undefined
  /** Absent when the files have mistakes. */
  readonly plan: Plan | undefined
  /** Services of the Compose file; they give failures a position. */
  readonly services: Tree | undefined
  readonly diagnostics: readonly Diagnostic[]
}

interface Finding extends LoadInput {
  /** The environment's, in place of the files'. */
  readonly name?: string | undefined
}

/**
 * The environment that a command is about: `--name`, else the one that the files have. Mistakes of
 * the files do not matter as long as the name can be told; else they are reported, and a UserError
 * is thrown.
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
 * The name of that environment, a DNS label. What is named needs no files, and their mistakes do
 * not matter.
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
