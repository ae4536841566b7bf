import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Clock } from '../clock.ts'

/** Latest known state of a Pod, with a way to wait for its next change. */
export class WatchedPod {
  #object: KubeObject
  #isGone = false
  readonly #listeners = new Set<() => void>()

  constructor(object: KubeObject) {
    this.#object = object
  }

  get object(): KubeObject {
    return this.#object
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Replaces the object with its current version. */
  update(object: KubeObject): void {
    this.#object = object
    this.#tell()
  }

  /** Marks the Pod as deleted, with all its containers ended. */
  remove(): void {
    this.#isGone = true
    this.#tell()
  }

  /**
   * Resolves at the next change, or when the time limit is reached, if one is passed; rejects with the signal's abort
   * reason.
   */
  change(signal: AbortSignal, limit?: { readonly clock: Clock; readonly milliseconds: number }): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const end = (finish: () => void) => {
        this.#listeners.delete(onChange)
        signal.removeEventListener('abort', onAbort)
        stop?.()
        finish()
      }
      const onChange = () => end(resolve)
      const onAbort = () => end(() => reject(signal.reason))
      const stop = limit?.clock.every(limit.milliseconds, onChange)
      this.#listeners.add(onChange)
      signal.addEventListener('abort', onAbort)
    })
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}
