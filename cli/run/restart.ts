import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import { printNames } from '../../develop/up.ts'
import type { Context } from '../command.ts'
import type { RestartValues } from '../commands/restart.ts'
import { toTerminal } from '../terminal/operation-events.ts'
import { startProgress } from '../terminal/progress/progress.ts'
import { printSummary } from '../terminal/report.ts'
import { withProject } from './project-session.ts'

/** Restarts the Pods of the named services, or of all services. */
export async function restartApplication(
  context: Context,
  services: readonly string[],
  options: RestartValues,
): Promise<number> {
  return withProject(context, { ...options, var: undefined }, async (own, project, session) => {
    const { io, logLevel } = own
    const [dev] = services
    if (dev !== undefined && services.length === 1) {
      const { restartDevelopment } = await import('../../develop/restart.ts')
      const restarted = await restartDevelopment({ workspace: io, session }, dev)
      if (restarted) {
        const { services: beside } = restarted
        const text =
          beside.length > 0 ? `${printNames(beside)} restarted, beside ${dev}` : `the program of ${dev} is restarted`
        printSummary(text, io, logLevel)
        return 0
      }
    }
    const { jobsHint, restart } = await import('../../operations/restart/restart.ts')
    const progress = await startProgress(io, logLevel, 'text', () => session.clock.now())
    const world = { workspace: io, session, on: toTerminal(own, progress, 'text') }
    const outcome = await restart(world, { ...options, services }, project).finally(() => progress.pause())
    const { environment, namespace, restarted, skipped, failed, waits, milliseconds } = outcome
    if (skipped.length > 0) printSummary(`left ${skipped.join(', ')} alone: ${jobsHint(skipped)}`, io, logLevel)
    if (failed.length > 0) {
      io.stderr.write(`${failed.join(', ')} of ${environment} did not become ready\n`)
      return 1
    }
    const are = restarted.length === 1 ? 'is' : 'are'
    const took = `${waits ? '' : ', not waited for'} (${readableDuration(milliseconds)})`
    printSummary(`${restarted.join(', ')} of ${environment} ${are} restarted in ${namespace}${took}`, io, logLevel)
    return 0
  })
}
