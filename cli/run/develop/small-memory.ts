import { keepHeapSmall, shrinkHeap } from '../../../adapters/process/small-heap.ts'
import type { OperationEvent } from '../../../api/events.ts'

/** Milliseconds after which the files are taken to be at rest. */
const REST = 3000
/** Milliseconds before memory is checked a second time. */
const LATER = 10_000
/** Growth in bytes since the last collection that justifies a pause. */
const WORTH = 24 << 20

/** Memory functions of a long-running process; replaced in tests. */
interface Heap {
  keepSmall(): void
  shrink(): Promise<void>
  /** Returns the bytes in use. */
  used(): number
}

const HEAP: Heap = { keepSmall: keepHeapSmall, shrink: shrinkHeap, used: () => process.memoryUsage.rss() }

/**
 * Returns a handler for the events of development containers. The first synchronization needs much memory, which V8
 * would keep because an idle session makes no garbage: shrinks the heap once all files have been in sync for a while.
 * Checks a second time for the work that follows, such as storing the state that both sides have agreed on.
 */
export function smallMemory(heap: Heap = HEAP): (event: OperationEvent) => void {
  let isBegun = false
  let last = 0
  let timer: NodeJS.Timeout | undefined
  const rest = (milliseconds: number, isFirst: boolean) => {
    timer = setTimeout(() => {
      if (heap.used() < last + WORTH) return
      // Prevents a second collection while this one runs.
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
