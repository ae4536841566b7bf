import { pause } from '../../../adapters/http/back-off.ts'
import type { RunRecord } from '../../records/run.ts'
import { hasEnded } from '../../rules/runs/run-states.ts'
import type { ServerContext } from '../context.ts'
import { PodLog, type RunLine, readSaved } from './run-log.ts'
import type { Runs } from './runs.ts'

/** Interval between two checks of the run, in milliseconds. */
const LOOK = 500
/** Maximum time to wait for a log that is being saved, in milliseconds. */
const SAVING = 90_000

export type Followed = { readonly type: 'state'; readonly run: RunRecord } | ({ readonly type: 'line' } & RunLine)

/**
 * Yields the state changes of a run, and its log lines after the line with the number `after`. The lines come from the
 * Pod's log, or from the saved log if there is one. The last event is the final state.
 */
export async function* followRun(
  { cluster, now }: Pick<ServerContext, 'cluster' | 'now'>,
  runs: Runs,
  id: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<Followed> {
  const pod = new PodLog(cluster, id)
  let last = after
  let said: string | undefined
  let endedAt: number | undefined
  for (;;) {
    const run = await runs.find(id, signal)
    if (!run) return
    if (!hasEnded(run.state) && run.state !== said) {
      said = run.state
      yield { type: 'state', run }
    }
    let isAll = false
    if (run.found.log && hasEnded(run.state)) {
      for await (const line of readSaved(cluster, run, run.found.log, signal))
        if (line.number > last) yield { type: 'line', ...line }
      isAll = true
    } else if (run.state !== 'queued' && !run.isSettled) {
      const lines = pod.read(last, signal)
      for (let next = await lines.next(); ; next = await lines.next()) {
        if (next.done) {
          isAll = next.value
          break
        }
        last = next.value.number
        yield { type: 'line', ...next.value }
      }
      if (isAll && !hasEnded(run.state) && (await runs.noteEnd(id, signal))) continue
    }
    if (hasEnded(run.state)) {
      endedAt ??= now()
      // Otherwise the Pod is deleted, and the rest of its log is about to be saved.
      if (isAll || run.isSettled || now() - endedAt > SAVING) return yield { type: 'state', run }
    }
    await pause(LOOK, signal)
  }
}
