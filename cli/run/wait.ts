import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import type { Context } from '../command.ts'
import type { WaitValues } from '../commands/wait.ts'
import { toTerminal } from '../terminal/operation-events.ts'
import { startProgress } from '../terminal/progress/progress.ts'
import { printSummary } from '../terminal/report.ts'
import { withProject } from './project-session.ts'

/** Waits until the named services, or all services, are ready. Prints the services that did not become ready. */
export async function waitForServices(
  context: Context,
  services: readonly string[],
  options: WaitValues,
): Promise<number> {
  return withProject(context, { ...options, var: undefined }, async (own, project, session) => {
    const { io, logLevel } = own
    const { wait } = await import('../../operations/wait/wait.ts')
    const progress = await startProgress(io, logLevel, 'text', () => session.clock.now())
    const world = { workspace: io, session, on: toTerminal(own, progress, 'text') }
    const outcome = await wait(world, { ...options, services }, project).finally(() => progress.pause())
    const { environment, services: waited, failed, milliseconds } = outcome
    if (failed.length > 0) {
      io.stderr.write(`${failed.join(', ')} of ${environment} did not become ready\n`)
      return 1
    }
    const are = waited.length === 1 ? 'is' : 'are'
    printSummary(
      `${waited.join(', ')} of ${environment} ${are} ready (${readableDuration(milliseconds)})`,
      io,
      logLevel,
    )
    return 0
  })
}
