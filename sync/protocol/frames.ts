/**
 * Message between the laptop and the agent: `u32 length | u8 type | u32 header length | header | body`, where the
 * length counts the bytes after it, and the header is JSON.
 */
export interface Frame {
  readonly type: FrameType
  readonly header: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

/** Frame types; their positions are the numbers on the wire. */
const FRAME_TYPES = [
  'hello',
  'auth',
  'welcome',
  'start',
  'snapshot',
  'started',
  'changed',
  'seen',
  'apply',
  'read',
  'hash',
  'stat',
  'sums',
  'begin',
  'part',
  'finish',
  'fetch',
  'cancel',
  'gate',
  'answer',
  'ping',
  'own',
  'left-out',
  'failed',
  'unwatched',
  'copy',
  'settle',
] as const
export type FrameType = (typeof FRAME_TYPES)[number]

/** Limits of a frame in bytes: `frame` for the bytes after the length field, `header` for the header. */
export interface FrameLimits {
  readonly frame: number
  readonly header: number
}

export const FRAME_LIMITS: FrameLimits = { frame: 8 << 20, header: 4 << 20 }
/** Limits until the other side has proved that it has the key. */
export const GREETING_LIMITS: FrameLimits = { frame: 4096, header: 2048 }

const PREFIX = 9
const EMPTY = Buffer.alloc(0)

/** Returns the pieces of a frame, in order. The contents of files are not copied. */
export function encodeFrame(type: FrameType, header: object, body: readonly Uint8Array[] = []): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify(header))
  const size = body.reduce((sum, piece) => sum + piece.length, 0)
  const start = Buffer.allocUnsafe(PREFIX + text.length)
  start.writeUInt32BE(PREFIX - 4 + text.length + size, 0)
  start.writeUInt8(FRAME_TYPES.indexOf(type), 4)
  start.writeUInt32BE(text.length, 5)
  text.copy(start, PREFIX)
  return [start, ...body]
}

/** Assembles frames from received pieces. Its methods throw an Error if the bytes are not valid frames. */
export class FrameReader {
  limits: FrameLimits
  #pieces: Buffer[] = []
  #size = 0

  constructor(limits: FrameLimits) {
    this.limits = limits
  }

  push(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#size += piece.length
  }

  /** Returns the next complete frame, or undefined if more bytes are needed. */
  next(): Frame | undefined {
    if (this.#size < PREFIX) return undefined
    const prefix = this.#start(PREFIX)
    const length = prefix.readUInt32BE(0)
    const header = prefix.readUInt32BE(5)
    const type = FRAME_TYPES[prefix.readUInt8(4)]
    if (length > this.limits.frame || header > this.limits.header || header > length - (PREFIX - 4) || !type)
      throw new Error('the other side does not send frames of this protocol')
    const end = length + 4
    if (this.#size < end) return undefined
    const bytes = this.#start(end)
    this.#pieces[0] = bytes.subarray(end)
    this.#size -= end
    const body = PREFIX + header === end ? EMPTY : bytes.subarray(PREFIX + header, end)
    return { type, header: readHeader(bytes.subarray(PREFIX, PREFIX + header)), body }
  }

  /** Joins the first pieces until they contain at least `size` bytes, and returns the joined piece. */
  #start(size: number): Buffer {
    if (this.#pieces[0]!.length >= size) return this.#pieces[0]!
    let count = 0
    for (let sum = 0; sum < size; count++) sum += this.#pieces[count]!.length
    const joined = Buffer.concat(this.#pieces.slice(0, count))
    this.#pieces.splice(0, count, joined)
    return joined
  }
}

function readHeader(bytes: Buffer): Frame['header'] {
  const header: unknown = JSON.parse(bytes.toString())
  if (typeof header !== 'object' || header === null || Array.isArray(header))
    throw new Error('a header is not an object')
  return header as Frame['header']
}
