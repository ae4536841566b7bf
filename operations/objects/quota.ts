import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { TRIER } from './labels.ts'
import type { Problem } from './problems.ts'

/**
 * The API server counts what a quota allows from a copy that is some moments old: it may refuse Pods once more when
 * the quota is gone or larger. The controller then tries again after as long as it has been refused so far, which can
 * be minutes; a change makes it try at once.
 */
export const isOfQuota = ({ code, detail }: Problem): boolean => code === 'refused' && detail.includes('exceeded quota')

/** Milliseconds between the tries, and how many there are. */
const PAUSE = 2000
const TRIES = 2
/** Milliseconds after which a refusal counts although no newer one has been seen: events may be lost, or forbidden. */
const LIMIT = 20_000

/** Judges, over several looks, whether a quota still refuses the Pods of a workload. */
export class QuotaRefusals {
  #since: number | undefined
  #tries = 0
  #triedAt = 0
  /** The newest refusal that was known at the last try. */
  #known = 0

  /**
   * What to do now that the only `problems` are those of a quota: `failed` when it has refused again after the last
   * try. `now` is in milliseconds since 1970.
   */
  judge(problems: readonly Problem[], now: number): 'wait' | 'try' | 'failed' {
    const newest = Math.max(0, ...problems.map(({ time }) => time ?? 0))
    if (this.#since === undefined) {
      this.#since = now
      this.#triedAt = now
    }
    if (now - this.#since >= LIMIT) return 'failed'
    if (this.#tries === TRIES) return newest > this.#known ? 'failed' : 'wait'
    if (now - this.#triedAt < PAUSE) return 'wait'
    this.#tries++
    this.#triedAt = now
    this.#known = newest
    return 'try'
  }
}

/** Makes the controllers of a workload try at once to create the Pods that were refused. */
export async function tryAgain(
  cluster: Cluster,
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
  now: number,
  options: CallOptions,
): Promise<void> {
  const annotations = { 'dev.platform/tried': new Date(now).toISOString() }
  const note: KubeObject = { apiVersion, kind, metadata: { name, ...(namespace && { namespace }), annotations } }
  await cluster.apply(note, { ...options, manager: TRIER, force: true })
}
