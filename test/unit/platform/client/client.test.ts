import { describe, expect, test } from 'vitest'
import { readEvents } from '../../../../platform/client/client.ts'
import type { StreamEvent } from '../../../../platform/server/handlers/handler.ts'
import { toEventStream } from '../../../../platform/server/http/event-stream.ts'

async function* inChunks(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('streams of events', () => {
  const events: readonly StreamEvent<unknown>[] = [
    { id: '1', data: { text: 'a line\nand another\n\nand a third' } },
    { data: 'id: 7' },
    { id: '2', data: [] },
  ]

  test.each([1, 2, 7, 1000])('the client reads what the server writes, in pieces of %i', async size => {
    const written = (await all(toEventStream(fromArray(events)))).join('')
    const read = await all(readEvents(inChunks(written, size)))
    expect(read.map(({ id, data }) => ({ ...(id !== undefined && { id }), data: JSON.parse(data) }))).toEqual(events)
  })

  test('an incomplete event is left out, and signs of life are no events', async () => {
    expect(await all(readEvents(inChunks(':\n\nid: 1\ndata: 1\n\nid: 2\ndata: 2', 3)))).toEqual([
      { id: '1', data: '1' },
    ])
  })

  test('an event without an end is refused', async () => {
    async function* endless() {
      for (;;) yield `data: ${'x'.repeat(1024 * 1024)}`
    }
    await expect(all(readEvents(endless()))).rejects.toThrow('an event is too long')
  })

  test('the source of events ends when the client disconnects', async () => {
    let isEnded = false
    async function* source() {
      try {
        for (let i = 0; ; i++) yield { data: i }
      } finally {
        isEnded = true
      }
    }
    const stream = toEventStream(source())
    for await (const _ of stream) break
    await new Promise(resolve => setImmediate(resolve))
    expect([stream.destroyed, isEnded]).toEqual([true, true])
  })
})

async function* fromArray<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}
