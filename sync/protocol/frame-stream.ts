import type { Duplex } from 'node:stream'
import type { SyncClock } from '../core/clock.ts'
import * as fields from '../core/fields.ts'
import { describeFailure } from '../stage/problems.ts'
import { encodeFrame, type Frame, type FrameLimits, FrameReader, type FrameType, GREETING_LIMITS } from './frames.ts'

const PING = 10_000
const DEAD = 25_000
/** Time for the other side to read why this side ends the connection, in milliseconds. */
const LINGER = 1_000
/** Maximum length of the reason for ending the connection, in characters: it must fit into a greeting frame. */
const LONGEST_REASON = 300
/** Size in bytes from which contents are sent directly, instead of being joined with the preceding pieces. */
const LONG = 64 << 10
/** Number of waiting bytes from which the speed of the stream decides if contents are compressed. */
const BACKLOG = 256 << 10
/** Maximum number of bytes that wait in the stream, large enough to keep it busy while the next contents are read. */
const WINDOW = 4 << 20

export interface FrameStreamOptions {
  readonly stream: Duplex
  readonly clock: SyncClock
  /** Called for each frame. If it throws an error, the connection ends. */
  readonly received: (frame: Frame) => void
  readonly ended: (error: Error) => void
}

/** Error of the other side, with the reason that it has sent. */
class OtherSideFailed extends Error {}

/**
 * Connection that sends and receives frames over a stream. It ends once, with a reason, including when nothing has
 * arrived for some time.
 */
export class FrameStream {
  readonly #options: FrameStreamOptions
  readonly #reader = new FrameReader(GREETING_LIMITS)
  #isEnded = false
  #heard: number
  #cancelPing: () => void = () => {}
  readonly #throughput = new Throughput()
  readonly #draining = new Set<() => void>()
  /** Number of bytes sent. */
  sent = 0
  /**
   * True if this side sends its reason when it ends the connection. Only set after the other side has proved that it
   * has the key.
   */
  tellsWhy = false

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

  /** Number of bytes that the stream has not accepted yet, because the connection is slower than this side. */
  get waiting(): number {
    return this.#options.stream.writableLength
  }

  /** True if many bytes wait in the stream and it is so slow that compression is worthwhile. */
  get isSlow(): boolean {
    return this.waiting > BACKLOG && !this.#throughput.isFast
  }

  set limits(limits: FrameLimits) {
    this.#reader.limits = limits
  }

  /**
   * Sends a frame. `taken` is called when the stream has accepted the full frame, and never if the connection ends
   * first.
   */
  send(type: FrameType, header: object, body: readonly Uint8Array[] = [], taken?: () => void): void {
    if (this.#isEnded) return
    const pieces = encodeFrame(type, header, body)
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
    this.sent += size
    const { stream } = this.#options
    stream.cork()
    const joined = [...join(pieces)]
    joined.forEach((piece, index) => {
      this.#write(piece, index === joined.length - 1 ? taken : undefined)
    })
    stream.uncork()
  }

  #write(bytes: Uint8Array, taken?: () => void): void {
    const { stream, clock } = this.#options
    this.#throughput.gave(bytes.length, clock.now())
    stream.write(bytes, error => {
      this.#throughput.took(bytes.length, clock.now())
      if (!error) taken?.()
      if (this.waiting >= WINDOW) return
      for (const resolve of this.#draining) resolve()
      this.#draining.clear()
    })
  }

  /** Resolves when the stream can accept more, or has ended. */
  drained(): Promise<void> {
    if (this.waiting < WINDOW || this.#isEnded) return Promise.resolve()
    return new Promise(resolve => void this.#draining.add(resolve))
  }

  end(error: Error): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#options.stream.on('error', () => {})
    this.#options.stream.destroy()
    this.#ended(error)
  }

  /**
   * Ends the connection because this side cannot continue. Sends the reason to the other side if `tellsWhy` is true,
   * unless `error` is a failure that the other side has reported.
   */
  fail(error: Error): void {
    if (this.#isEnded) return
    if (!this.tellsWhy || error instanceof OtherSideFailed) {
      this.end(error)
      return
    }
    this.send('failed', { message: describeFailure(error).slice(0, LONGEST_REASON) })
    this.#isEnded = true
    const { stream, clock } = this.#options
    stream.on('error', () => {})
    // Data that still arrives is read and discarded: closing the connection immediately could lose the last message.
    stream.end()
    const cancel = clock.after(LINGER, () => stream.destroy())
    stream.once('close', cancel)
    this.#ended(error)
  }

  #ended(error: Error): void {
    this.#cancelPing()
    for (const resolve of this.#draining) resolve()
    this.#draining.clear()
    this.#options.ended(error)
  }

  #receive(piece: Buffer): void {
    if (this.#isEnded) return
    this.#heard = this.#options.clock.now()
    try {
      this.#reader.push(piece)
      for (let frame = this.#reader.next(); frame && !this.#isEnded; frame = this.#reader.next())
        if (frame.type === 'failed') throw new OtherSideFailed(reasonOf(frame))
        else if (frame.type !== 'ping') this.#options.received(frame)
    } catch (error) {
      this.fail(error as Error)
    }
  }

  #ping(): void {
    const { clock } = this.#options
    const toDeath = this.#heard + DEAD - clock.now()
    this.#cancelPing = clock.after(Math.max(0, Math.min(PING, toDeath)), () => {
      const silent = clock.now() - this.#heard
      if (silent >= DEAD) this.end(new Error(`nothing has come from the other side for ${Math.round(silent / 1000)} s`))
      else {
        this.send('ping', {})
        this.#ping()
      }
    })
  }
}

/** Joins consecutive short pieces, because each piece costs a message at every hop. */
function* join(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let short: Uint8Array[] = []
  let size = 0
  for (const piece of pieces) {
    if (short.length > 0 && size + piece.length > LONG) {
      yield Buffer.concat(short)
      short = []
      size = 0
    }
    if (piece.length >= LONG) yield piece
    else {
      short.push(piece)
      size += piece.length
    }
  }
  if (short.length > 0) yield Buffer.concat(short)
}

/** Returns the other side's reason for ending the connection, truncated and on one line. */
function reasonOf({ header }: Frame): string {
  const message = fields.text(header, 'message').slice(0, LONGEST_REASON)
  return `the other side cannot go on: ${message.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')}`
}

/** Measures how fast a stream accepts bytes. Only counts the time during which bytes are waiting. */
export class Throughput {
  #waiting = 0
  #since = 0
  #bytes = 0
  #milliseconds = 0

  /** Records that bytes were passed to the stream. */
  gave(bytes: number, now: number): void {
    if (this.#waiting === 0) this.#since = now
    this.#waiting += bytes
  }

  /** Records that the stream has accepted bytes. */
  took(bytes: number, now: number): void {
    this.#waiting -= bytes
    this.#bytes += bytes
    this.#milliseconds += now - this.#since
    this.#since = now
    if (this.#milliseconds < REMEMBERED) return
    this.#bytes /= 2
    this.#milliseconds /= 2
  }

  /** True if the stream is so fast that compression would slow it down. False while the speed is unknown. */
  get isFast(): boolean {
    return this.#milliseconds >= KNOWN && this.#bytes / this.#milliseconds > FAST
  }
}

const REMEMBERED = 2_000
const KNOWN = 20
/**
 * Speed in bytes per millisecond above which compression is not worthwhile; deflate level 1 reaches 60,000 to 150,000.
 */
const FAST = 32_000
