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
  /** The command makes what the files say: it gets the variables of the platform that it is for. */
  readonly usesPlatform?: { readonly form: ProgressForm }
  readonly var: Readonly<Record<string, string>> | undefined
  /** The command asks the cluster before it reads the Compose files. */
  readonly asksFirst?: true
}

/**
 * Opens the project that the options mean and connects to the cluster that it is for, as `withCluster` does. The work
 * gets the context with the variables of `--var`, and of the platform.
 */
export async function withProject(
  context: Context,
  options: Values,
  work: (own: Context, project: OpenProject, session: Session) => Promise<number>,
): Promise<number> {
  const io = withGiven(context.io, options.var)
  if (options.asksFirst) refuseMissingFiles(io, options.file)
  const project = await openProject(io, options)
  const target = targetOf(project, options)
  return withCluster(io, { ...options, ...target, logLevel: context.logLevel }, async session => {
    if (!options.usesPlatform || !isPlatform(session.target.context)) return work({ ...context, io }, project, session)
    const { withPlatformVariables } = await import('../../platform/session/with-variables.ts')
    const on = toTerminal(context, NO_PROGRESS, options.usesPlatform.form)
    const world = { workspace: io, project, signal: session.signal, on }
    const found = await withPlatformVariables(world, options, session.target)
    return work({ ...context, io: found.workspace }, found.project, session)
  })
}

/** The variables of `--var` count like those of the shell, and are secret. */
function withGiven(io: Io, given: Values['var']): Io {
  if (!given) return io
  io.secrets?.add(Object.values(given))
  return { ...withVariables(io, given), givenVariables: new Set(Object.keys(given)) }
}
