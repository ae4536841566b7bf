import { keepHeapSmall, shrinkHeap } from '../../../adapters/process/small-heap.ts'
import type { OperationEvent } from '../../../api/events.ts'

/** Milliseconds after which the files are taken to be at rest. */
const REST = 3000
/** Milliseconds after which that is looked at once more. */
const LATER = 10_000
/** So much more memory than the last time is worth stopping for a moment. */
const WORTH = 24 << 20

/** What a process that goes on for hours does about its memory; `own` is for tests. */
interface Heap {
  keepSmall(): void
  shrink(): Promise<void>
  /** Bytes. */
  used(): number
}

const HEAP: Heap = { keepSmall: keepHeapSmall, shrink: shrinkHeap, used: () => process.memoryUsage.rss() }

/**
 * Hears the events of development containers. The first synchronization needs much memory that V8 would keep, because a
 * session that is at rest makes no garbage: it is given back when all files are in sync for a while. What is still to be
 * done then, such as writing down what both sides have agreed on, is looked at once more.
 */
export function smallMemory(heap: Heap = HEAP): (event: OperationEvent) => void {
  let isBegun = false
  let last = 0
  let timer: NodeJS.Timeout | undefined
  const rest = (milliseconds: number, isFirst: boolean) => {
    timer = setTimeout(() => {
      if (heap.used() < last + WORTH) return
      // Not again while it goes on.
      last = Infinity
      void heap.shrink().then(() => {
        last = heap.used()
        if (isFirst) rest(LATER, false)
      })
    }, milliseconds).unref()
  }
  return event => {
    if (event.type !== 'sync') return
    if (!isBegun) heap.keepSmall()
    isBegun = true
    clearTimeout(timer)
    if (event.status.state === 'synced') rest(REST, true)
  }
}
