import { plural } from '../../../compiler/diagnostics/render/summary.ts'
import type { PublishEvent } from '../../../gitops/publish/events.ts'
import type { PublishOutcome } from '../../../gitops/publish/outcome.ts'
import { publish } from '../../../gitops/publish/publish.ts'
import { openProject } from '../../../project/open-project.ts'
import type { LocalContext } from '../../../project/session.ts'
import type { Context } from '../../command.ts'
import type { PublishValues } from '../../commands/publish.ts'
import { showingEdits } from '../../terminal/edit-diff.ts'
import { toTerminal } from '../../terminal/operation-events.ts'
import { startProgress } from '../../terminal/progress/progress.ts'
import type { ResultOptions } from '../../terminal/publish/print-planned.ts'
import { withDeadline } from '../deadline.ts'

/**
 * Compiles an application and commits it to its GitOps repository, or pushes it as an artifact. Returns the exit
 * status.
 */
export const publishApplication = (context: Context, options: PublishValues): Promise<number> =>
  publishing(context, options, async world => publish(world, options, await openProject(world.workspace, options)))

/**
 * Runs one kind of publish under the deadline from the options, and prints its progress and outcome. Returns the exit
 * status.
 */
export function publishing(
  context: Context,
  options: ResultOptions & Pick<PublishValues, 'timeout'>,
  work: (world: LocalContext<PublishEvent>) => Promise<PublishOutcome>,
): Promise<number> {
  const { io, logLevel } = context
  const hint = 'wait longer with `--timeout`; nothing was published partially'
  let races = 0
  const notes = () => (races === 0 ? [] : [`others pushed ${plural(races, 'time')} in the meantime`])
  return withDeadline(io, { timeout: options.timeout, hint, notes }, async signal => {
    const progress = await startProgress(io, logLevel, 'text', () => Date.now())
    const show = toTerminal(context, progress, 'text')
    const on: typeof show = event => {
      if (event.type === 'push-failed' && event.because === 'race') races++
      show(event)
    }
    const world = { workspace: io, signal, on }
    const outcome = await showingEdits(io, () => work(world), progress.pause).finally(() => progress.pause())
    const { printPublished } = await import('../../terminal/publish/print-published.ts')
    return printPublished(context, options, outcome)
  })
}
