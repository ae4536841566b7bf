import { framePiece, PIECE_HEAD, PIECE_TAIL, putStat, sizeOfStat } from './encode.ts'
import type { FileSelection } from './filter.ts'
import type { FileToSend, OpenFile, SyncedFolder } from './folder.ts'
import { isRegularMode, type SyncedFile } from './stat.ts'

/** The kinds of packets (`fsutil.types.Packet`). */
const STAT = 0
const REQUEST = 1
const FINISH = 3
const ERROR = 4

export interface Packet {
  readonly type?: number
  readonly ID?: number
  readonly data?: Uint8Array
}

/** The call in which BuildKit gets the files of a folder. */
export interface PacketStream {
  /** Resolves when more may be sent. */
  readonly send: (...packets: readonly Packet[]) => Promise<void>
  /**
   * Sends packets that are already encoded, with their prefixes; resolves when more may be sent. The caller may then
   * reuse the buffer.
   */
  readonly sendFrames: (frames: Buffer) => Promise<void>
  /** The packets from BuildKit, until it ends the call. */
  readonly requests: AsyncIterable<Packet>
}

/** Bytes that are sent at once: a part of the list of files, or of a file. */
const PIECE = 128 * 1024
const SIZE = PIECE_HEAD + PIECE + PIECE_TAIL
/** Buffers in which pieces wait for the connection, of all files together. */
const BUFFERS = 8
/** Files that are announced before the builder gets the first of them. */
const BATCH = 250

/**
 * Tells BuildKit about the files of a folder, and sends those that it asks for: it asks for what it
 * does not have from the build before. Throws what BuildKit reports, and what reading fails with.
 */
export async function sendFiles(folder: SyncedFolder, selection: FileSelection, stream: PacketStream): Promise<void> {
  const sender = new Sender(folder, stream)
  try {
    await Promise.all([sender.announce(folder.files(selection)), sender.answer(), sender.failed])
  } catch (error) {
    sender.stop()
    // It may be that the call has ended.
    await stream.send({ type: ERROR, data: Buffer.from((error as Error).message) }).catch(() => {})
    throw error
  }
}

class Sender {
  readonly #folder: SyncedFolder
  readonly #stream: PacketStream
  readonly #buffers = new Buffers(BUFFERS, SIZE)
  /** The files that may be asked for, by their number. */
  readonly #files = new Map<number, FileToSend>()
  #isStopped = false
  /** Rejects when a file cannot be read or sent; resolves at the end. */
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

  /** Ends the reading of files that are being sent. */
  stop(): void {
    this.#isStopped = true
  }

  /** Sends what each file is; an empty packet ends the list. */
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
        // The connection has its turn between the reading of files.
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

  /** Sends the content of the files that are asked for, until BuildKit has all. */
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

  /** Sends a piece, and gives true if it was the last. */
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

  /** Sends a part of a buffer, which is free after that. What is sent arrives in this order. */
  #send(buffer: Buffer, frames: Buffer): void {
    this.#stream
      .sendFrames(frames)
      .catch(this.#fail)
      .finally(() => this.#buffers.give(buffer))
  }
}

/** Buffers that are used again: making one for each piece leaves the garbage collector more work than the sending. */
class Buffers {
  readonly #free: Buffer[] = []
  readonly #waiting: ((buffer: Buffer) => void)[] = []
  readonly #size: number
  #left: number

  constructor(count: number, size: number) {
    this.#left = count
    this.#size = size
  }

  /** Resolves when one is free. */
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
