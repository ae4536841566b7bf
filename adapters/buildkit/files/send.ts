import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileSelection } from './filter.ts'
import type { SyncedFile } from './stat.ts'
import { walk } from './walk.ts'

/** The kinds of packets (`fsutil.types.Packet`). */
const STAT = 0
const REQUEST = 1
const DATA = 2
const FINISH = 3
const ERROR = 4

export interface Packet {
  readonly type?: number
  readonly stat?: SyncedFile
  readonly ID?: number
  readonly data?: Uint8Array
}

/** The stream that BuildKit opens to get the files of a folder. */
export interface PacketStream {
  /** Resolves when more may be sent. */
  send(packet: Packet): Promise<void>
  /** What BuildKit sends, until it ends. */
  readonly received: AsyncIterable<Packet>
}

/** What was sent of a folder. */
export interface Sent {
  /** Files of which BuildKit asked for the content. */
  readonly files: number
  readonly bytes: number
}

/** Files that are read at the same time. */
const READERS = 4
const CHUNK = 32 * 1024

/**
 * Tells BuildKit about the files of a folder and sends those that it asks for: it asks for what it does not have from the build before.
 * Throws what BuildKit reports, and what reading fails with.
 */
export async function sendFiles(
  root: string,
  selection: FileSelection,
  stream: PacketStream,
  onSent: (sent: Sent) => void = () => {},
): Promise<void> {
  const sender = new Sender(root, stream, onSent)
  await Promise.all([sender.announce(walk(root, selection)), sender.answer()])
}

class Sender {
  readonly #root: string
  readonly #stream: PacketStream
  readonly #onSent: (sent: Sent) => void
  /** The paths of files that may be asked for, by their number. */
  readonly #paths = new Map<number, string>()
  readonly #wanted: number[] = []
  readonly #reading = new Set<Promise<void>>()
  #sent: Sent = { files: 0, bytes: 0 }

  constructor(root: string, stream: PacketStream, onSent: (sent: Sent) => void) {
    this.#root = root
    this.#stream = stream
    this.#onSent = onSent
  }

  /** Sends what each file is; an empty packet ends the list. */
  async announce(files: Iterable<SyncedFile>): Promise<void> {
    let number = 0
    try {
      for (const stat of files) {
        // Go's regular files have no bit of a type.
        if (stat.mode < 2 ** 20 || isRegularMode(stat.mode)) this.#paths.set(number, stat.path)
        number++
        await this.#stream.send({ type: STAT, stat })
      }
    } catch (error) {
      await this.#stream.send({ type: ERROR, data: Buffer.from((error as Error).message) })
      throw error
    }
    await this.#stream.send({ type: STAT })
  }

  /** Sends the content of the files that are asked for, until BuildKit has all. */
  async answer(): Promise<void> {
    for await (const packet of this.#stream.received) {
      switch (packet.type ?? STAT) {
        case REQUEST:
          this.#wanted.push(packet.ID ?? 0)
          this.#readMore()
          break
        case FINISH:
          await this.#stream.send({ type: FINISH })
          return
        case ERROR:
          throw new Error(`the builder could not take the files: ${Buffer.from(packet.data ?? []).toString()}`)
      }
    }
  }

  #readMore(): void {
    while (this.#reading.size < READERS && this.#wanted.length > 0) {
      const reading = this.#sendContent(this.#wanted.shift()!)
      this.#reading.add(reading)
      void reading.finally(() => {
        this.#reading.delete(reading)
        this.#readMore()
      })
    }
  }

  /** Sends a file in pieces and an empty one at its end. A file that is gone meanwhile is empty. */
  async #sendContent(number: number): Promise<void> {
    const path = this.#paths.get(number)
    if (path === undefined) throw new Error(`the builder asked for file ${number}, which was not offered`)
    this.#paths.delete(number)
    let bytes = 0
    const file = await open(join(this.#root, path)).catch(() => undefined)
    try {
      for (;;) {
        const buffer = Buffer.allocUnsafe(CHUNK)
        const { bytesRead = 0 } = (await file?.read(buffer, 0, CHUNK)) ?? {}
        if (bytesRead === 0) break
        bytes += bytesRead
        await this.#stream.send({ type: DATA, ID: number, data: buffer.subarray(0, bytesRead) })
      }
    } finally {
      await file?.close()
    }
    await this.#stream.send({ type: DATA, ID: number })
    this.#sent = { files: this.#sent.files + 1, bytes: this.#sent.bytes + bytes }
    this.#onSent(this.#sent)
  }
}

const TYPE_BITS = 2 ** 31 + 2 ** 27 + 2 ** 26 + 2 ** 25 + 2 ** 24 + 2 ** 21

/** Whether a mode of Go's is that of a regular file. Bits of numbers above 2^31 are no matter of `&`. */
const isRegularMode = (mode: number): boolean => (BigInt(mode) & BigInt(TYPE_BITS)) === 0n
