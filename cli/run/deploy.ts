import type { OperationEvent } from '../../api/events.ts'
import type { Session } from '../../project/session.ts'
import type { Context } from '../command.ts'
import type { DeployValues } from '../commands/deploy.ts'
import { questionsFor, toTerminal } from '../terminal/operation-events.ts'
import { printOutcome } from '../terminal/print-outcome.ts'
import { startProgress } from '../terminal/progress/progress.ts'
import { withProject } from './project-session.ts'

/**
 * Deploys the projects that this project depends on, runs the project's commands, and then updates the environment in
 * the cluster to match the files.
 */
export async function deployApplication(
  context: Context,
  services: readonly string[],
  options: DeployValues,
): Promise<number> {
  const { parseScales } = await import('../../operations/scale/parse-scales.ts')
  const replicas = parseScales(options.scale ?? [], '--scale')
  return withProject(context, { ...options, usesPlatform: { form: options.output } }, async (own, project, session) => {
    const { deploy } = await import('../../operations/deploy/deploy.ts')
    const { clock } = session
    const progress = await startProgress(own.io, own.logLevel, options.output, () => clock.now())
    const on = toTerminal(own, progress, options.output)
    tellTarget(own, session, on)
    const world = { workspace: own.io, session, on, ask: questionsFor(own, progress) }
    try {
      const outcome = await deploy(world, { ...options, replicas, services }, project)
      progress.pause()
      return printOutcome(own, options.output, outcome)
    } finally {
      progress.pause()
    }
  })
}

/** Prints the cluster and the namespace, and the settings that selected them, with `--log-level info` or `debug`. */
export function tellTarget(
  { logLevel }: Context,
  { namespace, target }: Session,
  on: (event: OperationEvent) => void,
): void {
  if (logLevel !== 'info' && logLevel !== 'debug') return
  const { context, from } = target
  on({ type: 'note', text: `using ${namespace} @ ${context}, chosen by ${from.namespace} and ${from.context}` })
}

/** Prints the namespace and context that a command works in, at every log level. */
export function tellPlace(own: Context, session: Session, on: (event: OperationEvent) => void): void {
  if (own.logLevel === 'info' || own.logLevel === 'debug') tellTarget(own, session, on)
  else on({ type: 'note', text: `in ${session.namespace} @ ${session.target.context}` })
}
