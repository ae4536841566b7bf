import { pause } from '../../../adapters/http/back-off.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { printable } from '../../../compiler/values/printable.ts'
import type { Run, RunEvent } from '../../../platform/api/runs.ts'
import { hasEnded } from '../../../platform/rules/runs/run-states.ts'
import type { Context } from '../../command.ts'
import { printRun } from '../../terminal/print-run.ts'
import { startProgress } from '../../terminal/progress/progress.ts'

/** Current state on the platform of an object that is being deleted. */
export interface BeingDeleted {
  readonly status: string
  readonly deleteProblem?: string
  /** Reason why the deletion is not finished. */
  readonly deleteWaits?: string
  readonly runs: readonly Run[]
}

/** Polling interval in milliseconds. */
const LOOK = 500
/**
 * Delay before the reason for a slow deletion is reported, in milliseconds: Kubernetes needs some seconds for each
 * deletion.
 */
const LONG = 5000

/**
 * Waits until an object is deleted, and prints the logs of the runs that destroy its contents. Throws a UserError if
 * one of the runs fails.
 */
export async function followDeletion(
  { io, logLevel }: Context,
  {
    what,
    again,
    look,
    log,
    signal,
  }: {
    /** Name of the object in messages: `namespace shop`. */
    readonly what: string
    /** Command that deletes the object, for a hint on how to retry. */
    readonly again: string
    /** Returns the current state; undefined once it is deleted. */
    readonly look: () => Promise<BeingDeleted | undefined>
    readonly log: (run: Run) => AsyncIterable<RunEvent>
    readonly signal: AbortSignal
  },
): Promise<void> {
  const shown = new Set<string>()
  const tellWaits = waitsTeller(what, text => {
    if (logLevel !== 'error') io.stderr.write(text)
  })
  for (let isFirst = true; ; isFirst = false) {
    const found = await look()
    // An object of this name with another status is new, such as a user's own namespace, which is recreated empty.
    if (!found || (found.status !== 'Deleting' && found.status !== 'DeleteFailed')) return
    for (const run of found.runs) {
      if (!run.isDeletion || shown.has(run.id)) continue
      shown.add(run.id)
      // Skips the runs of an earlier attempt.
      if (isFirst && hasEnded(run.state)) continue
      const progress = await startProgress(io, logLevel, 'text', Date.now)
      await printRun({ io, logLevel }, progress, log(run)).finally(() => progress.pause())
    }
    if (found.status === 'DeleteFailed')
      throw new UserError(
        `${what} could not be deleted: ${found.deleteProblem ?? 'what is in it could not be destroyed'}`,
        {
          hint: `\`${again}\` tries again, and \`${again} --force\` deletes it without the commands of its manifests, and without waiting for finalizers`,
        },
      )
    tellWaits(found.deleteWaits)
    await pause(LOOK, signal)
  }
}

/**
 * Returns a function to call at each poll with the reason why a deletion waits. The function passes a reason to `tell`
 * once, after the reason has stayed the same for `LONG`. `now` is in milliseconds.
 */
export function waitsTeller(
  what: string,
  tell: (text: string) => void,
  now: () => number = Date.now,
): (waits: string | undefined) => void {
  let last: string | undefined
  let since = 0
  let told: string | undefined
  return waits => {
    if (last !== waits) since = now()
    last = waits
    if (waits === undefined || waits === told || now() - since < LONG) return
    told = waits
    tell(`${what} is still being deleted: ${printable(waits)}\n`)
  }
}
