import { keepHeapSmall, shrinkHeap } from '../../../adapters/process/small-heap.ts'
import type { OperationEvent } from '../../../api/events.ts'

/** Time in milliseconds without a file change after which the files count as idle. */
const REST = 3000
/** Delay before the second memory check, in milliseconds. */
const LATER = 10_000
/**
 * Growth of the used memory since the last garbage collection, in bytes, that makes another collection worth its pause.
 */
const WORTH = 24 << 20

/** Memory functions of a long-running process, replaced in tests. */
interface Heap {
  keepSmall(): void
  shrink(): Promise<void>
  /** Returns the bytes in use. */
  used(): number
}

const HEAP: Heap = { keepSmall: keepHeapSmall, shrink: shrinkHeap, used: () => process.memoryUsage.rss() }

/**
 * Returns a handler for the events of development containers, which shrinks the heap once all files have been in sync
 * for a while. The first synchronization needs a lot of memory, and V8 would keep it because an idle session produces
 * no garbage. After a pause, the handler checks the memory again, because a synchronization is followed by work such as
 * storing the state that both sides have agreed on.
 */
export function smallMemory(heap: Heap = HEAP): (event: OperationEvent) => void {
  let isBegun = false
  let last = 0
  let timer: NodeJS.Timeout | undefined
  const rest = (milliseconds: number, isFirst: boolean) => {
    timer = setTimeout(() => {
      if (heap.used() < last + WORTH) return
      // Prevents a second collection during this one.
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
