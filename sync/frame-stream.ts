import type { Duplex } from 'node:stream'
import type { SyncClock } from './clock.ts'
import { encodeFrame, type Frame, type FrameLimits, FrameReader, type FrameType, GREETING_LIMITS } from './frames.ts'

const PING = 10_000
const DEAD = 25_000

export interface FrameStreamOptions {
  readonly stream: Duplex
  readonly clock: SyncClock
  /** An error that it throws ends the connection. */
  readonly received: (frame: Frame) => void
  readonly ended: (error: Error) => void
}

/** Frames over a stream. It ends once, with the reason: also when nothing has come for some time. */
export class FrameStream {
  readonly #options: FrameStreamOptions
  readonly #reader = new FrameReader(GREETING_LIMITS)
  #isEnded = false
  #heard: number
  #cancelPing: () => void = () => {}
  #draining: Promise<void> | undefined
  /** Bytes that were sent. */
  sent = 0

  constructor(options: FrameStreamOptions) {
    this.#options = options
    const { stream, clock } = options
    this.#heard = clock.now()
    stream.on('data', (piece: Buffer) => this.#receive(piece))
    stream.on('error', error => this.end(error))
    stream.on('end', () => this.end(new Error('the other side has closed the connection')))
    stream.on('close', () => this.end(new Error('the connection is closed')))
    this.#ping()
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Bytes that the stream has not taken yet: the way is slower than we are. */
  get waiting(): number {
    return this.#options.stream.writableLength
  }

  set limits(limits: FrameLimits) {
    this.#reader.limits = limits
  }

  send(type: FrameType, header: object, body: readonly Uint8Array[] = []): void {
    if (this.#isEnded) return
    const bytes = Buffer.concat(encodeFrame(type, header, body))
    this.sent += bytes.length
    this.#options.stream.write(bytes)
  }

  /** Resolves when the stream takes more, or has ended. */
  drained(): Promise<void> {
    const { stream } = this.#options
    if (!stream.writableNeedDrain || this.#isEnded) return Promise.resolve()
    this.#draining ??= new Promise(resolve => {
      const done = () => {
        stream.off('drain', done)
        stream.off('close', done)
        this.#draining = undefined
        resolve()
      }
      stream.on('drain', done)
      stream.on('close', done)
    })
    return this.#draining
  }

  end(error: Error): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#cancelPing()
    this.#options.stream.on('error', () => {})
    this.#options.stream.destroy()
    this.#options.ended(error)
  }

  #receive(piece: Buffer): void {
    if (this.#isEnded) return
    this.#heard = this.#options.clock.now()
    try {
      this.#reader.push(piece)
      for (let frame = this.#reader.next(); frame && !this.#isEnded; frame = this.#reader.next())
        if (frame.type !== 'ping') this.#options.received(frame)
    } catch (error) {
      this.end(error as Error)
    }
  }

  #ping(): void {
    const { clock } = this.#options
    this.#cancelPing = clock.after(PING, () => {
      const silent = clock.now() - this.#heard
      if (silent >= DEAD) this.end(new Error(`nothing has come from the other side for ${Math.round(silent / 1000)} s`))
      else {
        this.send('ping', {})
        this.#ping()
      }
    })
  }
}
