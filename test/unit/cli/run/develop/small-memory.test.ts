import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { shrinkHeap } from '../../../../../adapters/process/small-heap.ts'
import type { OperationEvent } from '../../../../../api/events.ts'
import { smallMemory } from '../../../../../cli/run/develop/small-memory.ts'

const MB = 1 << 20

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Returns a process that uses 300 MB, and 100 MB after it has released memory. */
function heap() {
  const calls: string[] = []
  const made = {
    calls,
    bytes: 300 * MB,
    keepSmall: () => void calls.push('keep small'),
    shrink: async () => {
      calls.push('shrink')
      made.bytes = 100 * MB
    },
    used: () => made.bytes,
  }
  return made
}

const sync = (state: string) => ({ type: 'sync', status: { state }, folders: [] }) as unknown as OperationEvent // only the state counts

test('memory is released once all files have been in sync for a while', async () => {
  const own = heap()
  const hear = smallMemory(own)
  hear(sync('syncing'))
  hear(sync('synced'))
  await vi.advanceTimersByTimeAsync(2_000)
  hear(sync('syncing'))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(own.calls).toEqual(['keep small'])
  hear(sync('synced'))
  await vi.advanceTimersByTimeAsync(3_000)
  expect(own.calls).toEqual(['keep small', 'shrink'])
  // A save alone is no reason to release memory, but much new memory is.
  hear(sync('synced'))
  await vi.advanceTimersByTimeAsync(10_000)
  own.bytes = 150 * MB
  hear(sync('synced'))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(own.calls).toEqual(['keep small', 'shrink', 'shrink'])
  // New memory is also released later, without an event of the synchronization.
  own.bytes = 150 * MB
  await vi.advanceTimersByTimeAsync(10_000)
  expect(own.calls).toEqual(['keep small', 'shrink', 'shrink', 'shrink'])
  own.bytes = 150 * MB
  await vi.advanceTimersByTimeAsync(60_000)
  expect(own.calls).toHaveLength(4)
})

test('shrinkHeap collects garbage', async () => {
  vi.useRealTimers()
  const garbage = new WeakRef({ text: 'x'.repeat(100) })
  await shrinkHeap(10)
  expect(garbage.deref()).toBeUndefined()
})
