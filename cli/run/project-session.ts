import { isPlatform } from '../../project/contexts/store.ts'
import { openProject, refuseMissingFiles, targetOf } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { Session } from '../../project/session.ts'
import { withVariables } from '../../project/workspace.ts'
import type { Context } from '../command.ts'
import type { LoadingValues } from '../options/project.ts'
import type { Io } from '../terminal/io.ts'
import { toTerminal } from '../terminal/operation-events.ts'
import { NO_PROGRESS } from '../terminal/progress/events.ts'
import type { ProgressForm } from '../terminal/progress/progress.ts'
import { type SessionOptions, withCluster } from './cluster-session.ts'

interface Values extends LoadingValues, SessionOptions {
  /**
   * Set if the command compiles the files and thus needs the variables of the target platform. With `mayBeGone`, a
   * namespace that the platform does not have is not an error, and no variables are used.
   */
  readonly usesPlatform?: { readonly form: ProgressForm; readonly mayBeGone?: true }
  readonly var: Readonly<Record<string, string>> | undefined
  /** True if the command sends requests to the cluster before it reads the Compose files. */
  readonly asksFirst?: true
}

/**
 * Opens the project that the options select and connects to its target cluster, as `withCluster` does. The work is
 * called with a context that includes the variables of `--var` and of the platform.
 */
export async function withProject(
  context: Context,
  options: Values,
  work: (own: Context, project: OpenProject, session: Session) => Promise<number>,
): Promise<number> {
  const io = await withGiven(context.io, options.var)
  if (options.asksFirst) refuseMissingFiles(io, options.file)
  const project = await openProject(io, options)
  const target = targetOf(project, options)
  return withCluster(io, { ...options, ...target, logLevel: context.logLevel }, async session => {
    if (!options.usesPlatform || !isPlatform(session.target.context)) return work({ ...context, io }, project, session)
    const { withPlatformVariables } = await import('../../platform/session/with-variables.ts')
    const on = toTerminal(context, NO_PROGRESS, options.usesPlatform.form)
    const world = { workspace: io, project, signal: session.signal, on }
    const asked = withPlatformVariables(world, options, session.target)
    const { unlessNotThere } = await import('../../platform/session/connect-platform.ts')
    const found = await (options.usesPlatform.mayBeGone ? unlessNotThere(asked) : asked)
    return found
      ? work({ ...context, io: found.workspace }, found.project, session)
      : work({ ...context, io }, project, session)
  })
}

/**
 * Returns an Io whose variables include those of `--var`, in addition to those of the shell. The values from `--var`
 * count as secret. Throws a UserError for a variable that an option decides, before anything is read.
 */
async function withGiven(io: Io, given: Values['var']): Promise<Io> {
  if (!given) return io
  const { refuseReserved } = await import('../../commands/command-variables.ts')
  refuseReserved(given)
  io.secrets?.add(Object.values(given))
  return { ...withVariables(io, given), givenVariables: new Set(Object.keys(given)) }
}
