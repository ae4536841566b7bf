import { unlessAborted } from '../../../adapters/http/abort.ts'
import type { Change, KubeObject } from '../../../adapters/kubernetes/cluster.ts'

/** Decides what of a cluster a watch sees. */
export type Filter = (object: KubeObject) => boolean

/** A watch, which queues changes until they are taken. */
export class Watcher {
  readonly #filter: Filter
  #changes: Change[] = []
  #wake: () => void = () => {}

  constructor(filter: Filter, objects: Iterable<KubeObject>) {
    this.#filter = filter
    this.restart(objects)
  }

  /** Begins anew, as when the API server has forgotten the state a watch was at. */
  restart(objects: Iterable<KubeObject>): void {
    const seen = [...objects].filter(this.#filter)
    this.#changes = [
      { type: 'Restarted' },
      ...seen.map(object => ({ type: 'Changed', object }) as const),
      { type: 'Listed' },
    ]
    this.#wake()
  }

  /** Takes note of a change. An object that a selector no longer selects is deleted for this watch. */
  note(before: KubeObject | undefined, after: KubeObject | undefined, last: KubeObject): void {
    if (after && this.#filter(after)) this.#changes.push({ type: 'Changed', object: after })
    else if (before && this.#filter(before)) this.#changes.push({ type: 'Deleted', object: last })
    this.#wake()
  }

  /** The changes as they come, until the signal is aborted: then throws its reason. */
  async *changes(signal: AbortSignal | undefined): AsyncGenerator<Change> {
    for (;;) {
      signal?.throwIfAborted()
      const next = this.#changes.shift()
      if (next) yield structuredClone(next)
      else await unlessAborted(new Promise<void>(resolve => (this.#wake = resolve)), signal)
    }
  }
}
