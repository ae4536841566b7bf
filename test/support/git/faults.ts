import { setTimeout } from 'node:timers/promises'

/** An exchange with a server: a request over HTTP, or a connection. */
export interface Exchange {
  /**
   * Purpose of the exchange; `fetch-refs` and `push-refs` are the first request of a fetch or push over HTTP,
   * `connection` is a connection to one of the other servers.
   */
  readonly kind: 'fetch-refs' | 'push-refs' | 'fetch' | 'push' | 'connection'
  /** The how-manieth of its kind, from 1; requests without a valid password do not count. */
  readonly count: number
}

/** Fault to inject into an exchange. */
export type Fault =
  /** The connection ends after so many bytes of what the client sends, or of what the server does. */
  | { readonly kind: 'cut-request' | 'cut-answer'; readonly after: number }
  /** Nothing is read and nothing is answered. */
  | { readonly kind: 'hang' }
  /** HTTP only: answers with this status, instead of handling the request or, with `afterwards`, after that. */
  | { readonly kind: 'status'; readonly status: number; readonly afterwards?: boolean }

/** Decides about each exchange, when it begins; may do something else first, such as letting another push win. */
export type Faults = (exchange: Exchange) => Fault | undefined | Promise<Fault | undefined>

/** A fault for the first exchanges of a kind, or for `times` of them from the `first` on. */
export function on(kind: Exchange['kind'], fault: Fault, { first = 1, times = 1 } = {}): Faults {
  return exchange =>
    exchange.kind === kind && exchange.count >= first && exchange.count < first + times ? fault : undefined
}

/** Counts exchanges by their kind. */
export function counter(): (kind: Exchange['kind']) => Exchange {
  const counts = new Map<string, number>()
  return kind => {
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return { kind, count }
  }
}

/**
 * Lets so many bytes of a stream pass, then fails, which makes `pipeline` end both sides; a shorter stream is cut at
 * its end.
 */
export function cutAfter(limit: number) {
  return async function* (source: AsyncIterable<Buffer>) {
    let left = limit
    for await (const chunk of source) {
      if (left > 0) yield chunk.subarray(0, left)
      left -= chunk.length
      if (left < 0) break
    }
    // Let the passed bytes leave before the connection ends.
    if (limit > 0) await setTimeout(50)
    throw new Error('cut')
  }
}

/** Lets a stream pass at so many bytes a second. */
export function slowed(bytesPerSecond: number) {
  const step = Math.max(1, Math.floor(bytesPerSecond / 20))
  return async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source)
      for (let start = 0; start < chunk.length; start += step) {
        yield chunk.subarray(start, start + step)
        await setTimeout(50)
      }
  }
}
