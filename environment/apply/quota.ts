import type { Problem } from '../status/problems.ts'

/**
 * Returns true if a quota has refused Pods. The API server checks quotas against a copy that is some moments old: it
 * may refuse Pods once more after the quota has been deleted or raised. The controller then backs off for as long as it
 * has been refused so far, which can be minutes; a change makes it try at once.
 */
export const isOfQuota = ({ code, detail }: Problem): boolean => code === 'refused' && detail.includes('exceeded quota')

/** Milliseconds between the tries, and how many there are. */
const PAUSE = 2000
const TRIES = 2
/** Milliseconds after which a refusal counts although no newer one has been seen: events may be lost, or forbidden. */
const LIMIT = 20_000

/** Judges, over several looks, whether a quota still refuses the Pods of a workload. */
export class QuotaRefusals {
  readonly #since: number
  #tries = 0
  #triedAt: number
  /** The newest refusal that was known at the last try. */
  #known = 0

  /** `now` is the time of the first check that saw a refusal, in milliseconds since 1970. */
  constructor(now: number) {
    this.#since = now
    this.#triedAt = now
  }

  /**
   * Returns the next action when a quota is the only reason for `problems`: `failed` if it has refused again after the
   * last try. `now` is in milliseconds since 1970.
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
