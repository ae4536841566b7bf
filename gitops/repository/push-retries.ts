import type { Rejection } from '../../adapters/git/rejection.ts'

/**
 * Base of the first pause, in milliseconds. `LONGEST_PAUSE` is the maximum of the base, which grows with each retry.
 * `pauseAfter` multiplies the base by a random factor from 0.5 to 1.5.
 */
const PAUSE = 250
const LONGEST_PAUSE = 10_000
/**
 * Maximum number of consecutive retries after a broken connection. Retries after a lost race are limited only by the
 * deadline, since each one means that another push has succeeded.
 */
const MAX_BREAKS = 6
/** Maximum number of retries if the server has never been reached: its address is probably wrong. */
const MAX_UNREACHED = 2

/**
 * Returns true if a push may be retried after these failures, the last of which has just happened. `hasFetched` is true
 * if the server has answered before.
 */
export function mayRetry(failures: readonly Rejection[], hasFetched: boolean): boolean {
  if (failures.at(-1) === 'race') return true
  const breaks = failures.length - 1 - failures.findLastIndex(kind => kind !== 'broken' && kind !== 'unreachable')
  const isUnreached = !hasFetched && failures.every(kind => kind === 'unreachable')
  return breaks > 0 && breaks <= (isUnreached ? MAX_UNREACHED : MAX_BREAKS)
}

/**
 * Returns the base of the first pause in milliseconds. Slow attempts collide more often, so it is never less than the
 * time that an attempt took.
 */
export const firstPause = (attempt: number): number => Math.max(PAUSE, attempt)

/**
 * Returns a pause in milliseconds. The pause grows with each retry and is partly random, so that pipelines that push at
 * the same time do not collide again.
 */
export function pauseAfter(times: number, first: number): number {
  return Math.min(LONGEST_PAUSE, first * 1.5 ** Math.min(times - 1, 20)) * (0.5 + Math.random())
}
