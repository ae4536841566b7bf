import { framePiece, PIECE_HEAD, PIECE_TAIL, putStat, sizeOfStat } from './encode.ts'
import type { FileSelection } from './filter.ts'
import type { FileToSend, OpenFile, SyncedFolder } from './folder.ts'
import { isRegularMode, type SyncedFile } from './stat.ts'

/** Types of packets, as numbered in `fsutil.types.Packet`. */
const STAT = 0
const REQUEST = 1
const FINISH = 3
const ERROR = 4

export interface Packet {
  readonly type?: number
  readonly ID?: number
  readonly data?: Uint8Array
}

/** The RPC over which BuildKit receives the files of a folder. */
export interface PacketStream {
  /** Sends packets; resolves when more may be sent. */
  readonly send: (...packets: readonly Packet[]) => Promise<void>
  /**
   * Sends packets that are already encoded, with their prefixes; resolves when more may be sent. The caller may then
   * reuse the buffer.
   */
  readonly sendFrames: (frames: Buffer) => Promise<void>
  /** The packets from BuildKit, until it ends the call. */
  readonly requests: AsyncIterable<Packet>
}

/** Maximum number of bytes sent at once, both for the file list and for the content of a file. */
const PIECE = 128 * 1024
const SIZE = PIECE_HEAD + PIECE + PIECE_TAIL
/** Number of buffers with data waiting for the connection, shared by all files. */
const BUFFERS = 8
/**
 * Maximum number of files in one part of the file list. A part is sent when it has this many files, even if the buffer
 * is not full.
 */
const BATCH = 250

/**
 * Sends BuildKit the file list of a folder, then the content of the files that BuildKit requests because its cache
 * lacks them. Throws the error that BuildKit reports, or the error of reading a file.
 */
export async function sendFiles(folder: SyncedFolder, selection: FileSelection, stream: PacketStream): Promise<void> {
  const sender = new Sender(folder, stream)
  try {
    await Promise.all([sender.announce(folder.files(selection)), sender.answer(), sender.failed])
  } catch (error) {
    sender.stop()
    // The call may have ended.
    await stream.send({ type: ERROR, data: Buffer.from((error as Error).message) }).catch(() => {})
    throw error
  }
}

class Sender {
  readonly #folder: SyncedFolder
  readonly #stream: PacketStream
  readonly #buffers = new Buffers(BUFFERS, SIZE)
  /** Files that BuildKit may request, by their number in the file list. */
  readonly #files = new Map<number, FileToSend>()
  #isStopped = false
  /** Rejects when a file cannot be read or sent; resolves when BuildKit has received all requested files. */
  readonly failed: Promise<void>
  #fail: (error: unknown) => void = () => {}
  #succeed: () => void = () => {}

  constructor(folder: SyncedFolder, stream: PacketStream) {
    this.#folder = folder
    this.#stream = stream
    this.failed = new Promise((resolve, reject) => {
      this.#succeed = resolve
      this.#fail = reject
    })
  }

  /** Stops reading the files that are being sent. */
  stop(): void {
    this.#isStopped = true
  }

  /** Sends the metadata of each file; an empty packet ends the list. */
  async announce(files: Iterable<SyncedFile>): Promise<void> {
    let number = 0
    let batch = await this.#buffers.take()
    let at = 0
    for (const stat of files) {
      if (isRegularMode(stat.mode)) {
        const { path, size, modTime } = stat
        this.#files.set(number, { path, size, modTime })
      }
      if ((number > 0 && number % BATCH === 0) || at + sizeOfStat(stat) > batch.length) {
        this.#send(batch, batch.subarray(0, at))
        // Lets the connection make progress between reads.
        await new Promise(setImmediate)
        if (this.#isStopped) return
        batch = await this.#buffers.take()
        at = 0
      }
      at = putStat(batch, at, stat)
      number++
    }
    this.#send(batch, batch.subarray(0, at))
    await this.#stream.send({ type: STAT })
  }

  /** Sends the content of the requested files until BuildKit has received all of them. */
  async answer(): Promise<void> {
    for await (const packet of this.#stream.requests) {
      switch (packet.type ?? STAT) {
        case REQUEST:
          await this.#sendContent(packet.ID ?? 0)
          break
        case FINISH:
          await this.#stream.send({ type: FINISH })
          this.#succeed()
          return
        case ERROR:
          throw new Error(`the builder could not take the files: ${Buffer.from(packet.data ?? []).toString()}`)
      }
    }
    throw new Error('the builder has ended the call')
  }

  /** Sends a file in pieces, as buffers become free. */
  async #sendContent(number: number): Promise<void> {
    const found = this.#files.get(number)
    if (!found) throw new Error(`the builder asked for file ${number}, which was not offered`)
    this.#files.delete(number)
    const file = this.#folder.open(found)
    try {
      while (!this.#isStopped && !(await this.#sendPiece(number, file))) {}
    } finally {
      file.close()
    }
  }

  /** Sends a piece of a file; returns true if it was the last. */
  async #sendPiece(number: number, file: OpenFile): Promise<boolean> {
    const buffer = await this.#buffers.take()
    try {
      const length = await file.read(buffer.subarray(PIECE_HEAD, PIECE_HEAD + PIECE))
      const isLast = length < PIECE
      this.#send(buffer, framePiece(buffer, number, length, isLast))
      return isLast
    } catch (error) {
      this.#buffers.give(buffer)
      throw error
    }
  }

  /** Sends a part of a buffer, then frees the buffer. The receiver gets the parts in the order of the calls. */
  #send(buffer: Buffer, frames: Buffer): void {
    this.#stream
      .sendFrames(frames)
      .catch(this.#fail)
      .finally(() => this.#buffers.give(buffer))
  }
}

/**
 * Pool of reusable buffers. Allocating a new buffer for each piece of a file would cost more time for garbage
 * collection than sending the piece.
 */
class Buffers {
  readonly #free: Buffer[] = []
  readonly #waiting: ((buffer: Buffer) => void)[] = []
  readonly #size: number
  #left: number

  constructor(count: number, size: number) {
    this.#left = count
    this.#size = size
  }

  /** Resolves with a buffer as soon as one is free. */
  async take(): Promise<Buffer> {
    const buffer = this.#free.pop()
    if (buffer) return buffer
    if (this.#left === 0) return new Promise(resolve => this.#waiting.push(resolve))
    this.#left--
    return Buffer.allocUnsafe(this.#size)
  }

  give(buffer: Buffer): void {
    const next = this.#waiting.shift()
    if (next) next(buffer)
    else this.#free.push(buffer)
  }
}
