import { readableDuration } from '../../../compiler/values/numbers/readable-duration.ts'
import type { Context } from '../../command.ts'
import type { DownValues } from '../../commands/down.ts'
import { toTerminal } from '../../terminal/operation-events.ts'
import { startProgress } from '../../terminal/progress/progress.ts'
import { printSummary } from '../../terminal/report.ts'
import { withProject } from '../project-session.ts'
import { chooseDevFor } from './choose-dev.ts'

/** Ends development containers, and restores the workloads that they replaced. */
export async function endDevelopment(context: Context, words: readonly string[], options: DownValues): Promise<number> {
  return withProject(context, { ...options, var: undefined, asksFirst: true }, async (own, project, session) => {
    const { down } = await import('../../../develop/down.ts')
    const progress = await startProgress(own.io, own.logLevel, 'text', () => session.clock.now())
    const world = { workspace: own.io, session, on: toTerminal(own, progress, 'text') }
    const began = session.clock.now()
    const choose = chooseDevFor(own.io)
    const outcomes = await down(world, { ...options, devs: words, choose }, project).finally(() => progress.pause())
    const took = `(${readableDuration(session.clock.now() - began)})`
    for (const { dev: name, wasActive, restored } of outcomes) {
      const text = !wasActive
        ? `${name} is not active in ${session.namespace}`
        : restored === undefined
          ? `${name} is ended in ${session.namespace}`
          : `${restored} is restored in ${session.namespace}`
      printSummary(`${text} ${took}`, own.io, own.logLevel)
    }
    return 0
  })
}
