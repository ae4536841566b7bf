import { Readable } from 'node:stream'
import type { StreamEvent } from '../handlers/handler.ts'

/** Keep-alive interval in milliseconds. Proxies close connections that are silent for a minute. */
const BEAT = 15_000

/**
 * Converts events to the text of a `text/event-stream` (HTML standard, section 9.2). An empty comment is sent before
 * the first event is available. Events are read only as fast as the client accepts them.
 */
export function toEventStream(events: AsyncIterable<StreamEvent<unknown>>): Readable {
  return Readable.from(texts(events), { objectMode: true, highWaterMark: 1 })
}

async function* texts(events: AsyncIterable<StreamEvent<unknown>>): AsyncGenerator<string> {
  const iterator = events[Symbol.asyncIterator]()
  // Tells the client immediately that it is connected.
  yield ':\n\n'
  let next = iterator.next()
  try {
    for (;;) {
      const found = await within(next, BEAT)
      if (found === undefined) {
        yield ':\n\n'
        continue
      }
      if (found.done) return
      const { id, data } = found.value
      yield `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
      next = iterator.next()
    }
  } finally {
    next.catch(() => {})
    void iterator.return?.()?.catch(() => {})
  }
}

/** Returns the result of a promise, or undefined if it takes longer than the given time. */
async function within<T>(wanted: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(resolve, milliseconds, undefined)
  })
  try {
    return await Promise.race([wanted, late])
  } finally {
    clearTimeout(timer)
  }
}
