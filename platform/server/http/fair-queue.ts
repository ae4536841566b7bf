import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { Slots } from '../../../adapters/http/slots.ts'
import { PlatformError } from './platform-error.ts'

/** Maximum number of requests of one caller: concurrent, and waiting. */
export interface RequestLimits {
  readonly atOnce: number
  readonly waiting: number
}

/** A request whose caller is not known yet. */
export interface WaitingRequest {
  /**
   * Secret of the request without the rest of the header, so that different spellings of the header wait in the same
   * queue. Absent if the request has no credential.
   */
  readonly credential: string | undefined
  readonly response: ServerResponse
}

export interface QueueSlot<T> {
  /** The caller that the request counts against. */
  readonly who: T
  /** Ends the turn, even before the response ends. */
  readonly end: () => void
  /**
   * Runs the work of the request. The request keeps its turn until this work has settled, so that a client cannot get
   * more turns by disconnecting. Throws a PlatformError if the client has already disconnected.
   */
  readonly work: <R>(run: () => Promise<R>) => Promise<R>
}

/** Maximum number of credentials whose owner is remembered. */
const KNOWN = 10_000

interface Line {
  readonly slots: Slots
  /** Number of requests that are running or waiting. */
  all: number
}

/**
 * Handles only a few requests of each caller at the same time. The caller's other requests wait before any lookup and
 * before their bodies are read, so the requests of one caller neither fill the memory nor delay other callers.
 */
export class FairQueue {
  readonly #most: RequestLimits
  readonly #lines = new Map<string, Line>()
  /** Callers by the hash of their credential, least recently used first. */
  readonly #callers = new Map<string, string>()

  constructor(most: RequestLimits) {
    this.#most = most
  }

  /**
   * Waits for the turn of a request, and identifies its caller with `know`. The turn ends when the connection is closed
   * and the work is done. A request with an unknown credential waits twice: first in a queue for the credential, then
   * in the queue of the credential's owner. Throws the errors of `know`, and a PlatformError if too many requests wait
   * or the client has disconnected.
   */
  async take<T>(
    { credential: text, response }: WaitingRequest,
    know: () => Promise<T>,
    keyOf: (who: T) => string,
  ): Promise<QueueSlot<T>> {
    if (text === undefined) return { who: await know(), end: () => {}, work: run => run() }
    const credential = createHash('sha256').update(text).digest('base64url')
    // The owner of an unknown credential is not known yet.
    const line = this.#callers.get(credential) ?? credential
    let { end } = await this.#wait(line, response)
    let who = await know()
    const owner = keyOf(who)
    this.#callers.delete(credential)
    this.#callers.set(credential, owner)
    if (owner !== line) {
      end()
      const next = await this.#wait(owner, response)
      end = next.end
      // The caller may have been suspended while the request waited.
      if (next.hasWaited) who = await know()
    }
    for (const old of this.#callers.keys()) {
      if (this.#callers.size <= KNOWN) break
      this.#callers.delete(old)
    }
    const work: QueueSlot<T>['work'] = async run => {
      if (response.closed) throw gone()
      response.off('close', end)
      try {
        return await run()
      } finally {
        if (response.closed) end()
        else response.once('close', end)
      }
    }
    return { who, end, work }
  }

  async #wait(
    caller: string,
    response: ServerResponse,
  ): Promise<{ readonly end: () => void; readonly hasWaited: boolean }> {
    const { atOnce, waiting } = this.#most
    const line = this.#lines.get(caller) ?? { slots: new Slots(atOnce), all: 0 }
    if (line.all >= atOnce + waiting)
      throw new PlatformError(429, 'too-many', `more than ${atOnce + waiting} of your requests are in progress`, {
        hint: 'send fewer at the same time',
      })
    if (response.closed) throw gone()
    this.#lines.set(caller, line)
    const hasWaited = ++line.all > atOnce
    const over = new AbortController()
    let leave = () => {}
    const end = () => {
      if (over.signal.aborted) return
      over.abort(gone())
      leave()
      if (--line.all === 0) this.#lines.delete(caller)
    }
    response.once('close', end)
    const given = await line.slots.enter(over.signal)
    // The client disconnected at the moment when the slot was assigned.
    if (over.signal.aborted) {
      given()
      throw gone()
    }
    leave = given
    return { end, hasWaited }
  }

  /** Number of callers with active requests. */
  get size(): number {
    return this.#lines.size
  }
}

const gone = (): PlatformError => new PlatformError(408, 'gone', 'the client has gone')
