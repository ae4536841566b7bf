import type { Duplex } from 'node:stream'
import type { SyncClock } from '../core/clock.ts'
import * as fields from '../core/fields.ts'
import { FrameStream } from './frame-stream.ts'
import { FRAME_LIMITS, type Frame, type FrameType } from './frames.ts'
import { isProof, newNonce, proof, SYNC_PROTOCOL } from './greeting.ts'

/** Identity and clock of the agent. */
export interface Welcome {
  /** ID of the volume. The agreed state of both sides belongs to one volume, so none exists yet for a new one. */
  readonly volume: string
  /** ID of the agent's process, which changes with a restart. */
  readonly instance: string
  /**
   * Milliseconds by which the agent's clock is ahead of the clock of this machine; 0 if the difference is within
   * measurement error.
   */
  readonly ahead: number
}

export interface SyncLinkOptions {
  readonly stream: Duplex
  readonly key: Uint8Array
  readonly clock: SyncClock
  readonly welcomed: (welcome: Welcome) => void
  /** Called for frames that are not answers. If it throws an error, the link ends. */
  readonly received: (frame: Frame) => void
  readonly ended: (error: Error) => void
}

/** The laptop's end of a connection to the agent. */
export class SyncLink {
  readonly connection: FrameStream
  readonly #options: SyncLinkOptions
  readonly #nonce = newNonce()
  readonly #waiting = new Map<number, Waiting>()
  #agentNonce: string | undefined
  #greeted = 0
  #isWelcome = false
  #last = 0

  constructor(options: SyncLinkOptions) {
    this.#options = options
    this.connection = new FrameStream({
      stream: options.stream,
      clock: options.clock,
      received: frame => this.#receive(frame),
      ended: error => {
        for (const { reject } of this.#waiting.values()) reject(error)
        this.#waiting.clear()
        options.ended(error)
      },
    })
  }

  /**
   * Sends a request. Resolves with the answer; rejects if the connection ends first. `parts` receives the frames that
   * precede the answer.
   */
  request(type: FrameType, header: object, body: readonly Uint8Array[] = [], parts?: (frame: Frame) => void) {
    const id = ++this.#last
    return this.#answer(id, parts, () => this.connection.send(type, { id, ...header }, body))
  }

  /** Starts a request that consists of several frames, and returns its number. */
  begin(header: object): number {
    const id = ++this.#last
    this.connection.send('begin', { id, ...header })
    return id
  }

  finish(id: number, header: object): Promise<Frame> {
    return this.#answer(id, undefined, () => this.connection.send('finish', { id, ...header }))
  }

  end(error: Error): void {
    this.connection.end(error)
  }

  #answer(id: number, parts: ((frame: Frame) => void) | undefined, send: () => void): Promise<Frame> {
    return new Promise((resolve, reject) => {
      if (this.connection.isEnded) return reject(new Error('the connection has ended'))
      this.#waiting.set(id, { resolve, reject, parts })
      send()
    })
  }

  #receive(frame: Frame): void {
    if (!this.#isWelcome) this.#greet(frame)
    else if (frame.type === 'answer') this.#resolve(frame)
    else if (frame.type === 'part') this.#waiting.get(fields.count(frame.header, 'id'))?.parts?.(frame)
    else this.#options.received(frame)
  }

  #resolve(frame: Frame): void {
    const id = fields.count(frame.header, 'id')
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    waiting?.resolve(frame)
  }

  #greet({ type, header }: Frame): void {
    const { key, clock } = this.#options
    if (this.#agentNonce === undefined) {
      if (type !== 'hello') throw new Error('what answers is not the agent')
      if (header['protocol'] !== SYNC_PROTOCOL) throw new Error('the agent is of another version of devctl')
      this.#agentNonce = fields.text(header, 'nonce')
      this.#greeted = clock.now()
      this.connection.send('auth', { nonce: this.#nonce, proof: proof(key, 'laptop', this.#agentNonce, this.#nonce) })
      return
    }
    if (
      type !== 'welcome' ||
      !isProof(fields.text(header, 'proof'), proof(key, 'agent', this.#agentNonce, this.#nonce))
    )
      throw new Error('the agent does not have the key of this session')
    this.#isWelcome = true
    this.connection.limits = FRAME_LIMITS
    const now = clock.now()
    const ahead = fields.number(header, 'clock') - (this.#greeted + now) / 2
    this.#options.welcomed({
      volume: fields.text(header, 'volume'),
      instance: fields.text(header, 'instance'),
      ahead: Math.abs(ahead) > 1000 + (now - this.#greeted) / 2 ? Math.round(ahead) : 0,
    })
  }
}

interface Waiting {
  readonly resolve: (frame: Frame) => void
  readonly reject: (error: Error) => void
  readonly parts: ((frame: Frame) => void) | undefined
}
