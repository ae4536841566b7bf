import type { Problem } from '../status/problems.ts'

/**
 * Returns true if a quota has rejected Pods. The API server checks quotas against a cached copy, so it may still reject
 * Pods for a moment after the quota has been deleted or raised. The controller then retries only after a back-off,
 * which grows with the duration of the failures and can be minutes; a change to the workload makes the controller retry
 * at once.
 */
export const isOfQuota = ({ code, detail }: Problem): boolean => code === 'refused' && detail.includes('exceeded quota')

/** Minimum interval between two retries, in milliseconds (`PAUSE`), and maximum number of retries (`TRIES`). */
const PAUSE = 2000
const TRIES = 2
/**
 * Milliseconds after the first check until a rejection counts as final even if no newer rejection is known. Events may
 * be lost, or forbidden to the user.
 */
const LIMIT = 20_000

/** Decides, over several checks, whether a quota still rejects the Pods of a workload. */
export class QuotaRefusals {
  readonly #since: number
  #tries = 0
  #triedAt: number
  /** Time of the newest rejection that was known when the last retry was requested, in milliseconds since 1970. */
  #known = 0

  /** `now` is the time of the first check that saw a rejection, in milliseconds since 1970. */
  constructor(now: number) {
    this.#since = now
    this.#triedAt = now
  }

  /**
   * Returns the next action for a workload whose `problems` are all caused by a quota: `wait`, `try` to request a
   * retry, or `failed` if the quota has rejected Pods again after the last retry, or for too long. `now` is in
   * milliseconds since 1970.
   */
  judge(problems: readonly Problem[], now: number): 'wait' | 'try' | 'failed' {
    const newest = Math.max(0, ...problems.map(({ time }) => time ?? 0))
    if (now - this.#since >= LIMIT) return 'failed'
    if (this.#tries === TRIES) return newest > this.#known ? 'failed' : 'wait'
    if (now - this.#triedAt < PAUSE) return 'wait'
    this.#tries++
    this.#triedAt = now
    this.#known = newest
    return 'try'
  }
}
