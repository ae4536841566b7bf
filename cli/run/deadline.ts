import { LONGEST_TIMER } from '../../adapters/process/time-limit.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import { parseDuration } from '../options/duration.ts'
import { INTERRUPTED } from '../terminal/exit-status.ts'
import { watchForInterruption } from '../terminal/interruption.ts'
import type { Io } from '../terminal/io.ts'

/** Default deadline of a command in milliseconds. */
const TIMEOUT = 300_000

/**
 * Returns the deadline of a command in milliseconds: the value of its option, or else $DEVCTL_TIMEOUT, or else
 * `fallback` (by default five minutes), but at most the longest time of a Node timer. Throws a UsageError if
 * $DEVCTL_TIMEOUT is not a duration.
 */
export function deadlineOf({ env }: Io, timeout: number | undefined, fallback = TIMEOUT): number {
  const limit = timeout ?? (env.DEVCTL_TIMEOUT ? parseDuration(env.DEVCTL_TIMEOUT, 'DEVCTL_TIMEOUT') : fallback)
  return Math.min(limit, LONGEST_TIMER)
}

/**
 * Runs the work of a command under one deadline. Ctrl-C ends the work, too. `hint` tells the user what to do after a
 * timeout, and `onInterrupt` reports the interruption.
 */
export async function withDeadline(
  io: Io,
  {
    timeout,
    fallback,
    hint,
    notes,
    onInterrupt = () => io.stderr.write('interrupted\n'),
  }: {
    readonly timeout: number | undefined
    readonly fallback?: number
    readonly hint: string
    /** Returns notes on the progress made before the deadline. */
    readonly notes?: () => readonly string[]
    readonly onInterrupt?: () => void
  },
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const limit = deadlineOf(io, timeout, fallback)
  const deadline = AbortSignal.timeout(limit)
  const interrupt = watchForInterruption()
  try {
    return await work(AbortSignal.any([deadline, interrupt.signal]))
  } catch (error) {
    if (interrupt.signal.aborted) {
      onInterrupt()
      return INTERRUPTED
    }
    if (deadline.aborted) {
      const said = notes && { notes: notes() }
      throw new UserError(`not done within ${readableDuration(limit)}`, { hint, ...said, cause: error })
    }
    throw error
  } finally {
    interrupt.stop()
  }
}
