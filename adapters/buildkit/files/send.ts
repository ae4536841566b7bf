import { encodeStat } from './encode.ts'
import type { FileSelection } from './filter.ts'
import type { FileToSend, SyncedFolder } from './folder.ts'
import { isRegularMode, type SyncedFile } from './stat.ts'

/** The kinds of packets (`fsutil.types.Packet`). */
const STAT = 0
const REQUEST = 1
const DATA = 2
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
  /** The same for packets that are encoded. */
  readonly sendBytes: (...packets: readonly Buffer[]) => Promise<void>
  /** The packets from BuildKit, until it ends the call. */
  readonly requests: AsyncIterable<Packet>
}

/** Files that are read at the same time. */
const READERS = 4
/** Files that are announced in one write. */
const BATCH = 500

/**
 * Tells BuildKit about the files of a folder, and sends those that it asks for: it asks for what it
 * does not have from the build before. Throws what BuildKit reports, and what reading fails with.
 */
export async function sendFiles(folder: SyncedFolder, selection: FileSelection, stream: PacketStream): Promise<void> {
  const sender = new Sender(folder, stream)
  try {
    await Promise.all([sender.announce(folder.files(selection)), sender.answer(), sender.failed])
  } catch (error) {
    // It may be that the call has ended.
    await stream.send({ type: ERROR, data: Buffer.from((error as Error).message) }).catch(() => {})
    throw error
  }
}

class Sender {
  readonly #folder: SyncedFolder
  readonly #stream: PacketStream
  /** The files that may be asked for, by their number. */
  readonly #files = new Map<number, FileToSend>()
  readonly #reading = new Set<Promise<void>>()
  /** Rejects when a file cannot be read; resolves at the end. */
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

  /** Sends what each file is; an empty packet ends the list. */
  async announce(files: Iterable<SyncedFile>): Promise<void> {
    let number = 0
    let batch: Buffer[] = []
    for (const stat of files) {
      if (isRegularMode(stat.mode)) this.#files.set(number, { path: stat.path, size: stat.size })
      number++
      batch.push(encodeStat(stat))
      if (batch.length < BATCH) continue
      await this.#stream.sendBytes(...batch)
      batch = []
    }
    await this.#stream.sendBytes(...batch)
    await this.#stream.send({ type: STAT })
  }

  /** Sends the content of the files that are asked for, until BuildKit has all. */
  async answer(): Promise<void> {
    for await (const packet of this.#stream.requests) {
      switch (packet.type ?? STAT) {
        case REQUEST:
          await this.#begin(packet.ID ?? 0)
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

  /** Begins to send a file as soon as another may be read. */
  async #begin(number: number): Promise<void> {
    const sending: Promise<void> = this.#sendContent(number)
      .catch(this.#fail)
      .finally(() => this.#reading.delete(sending))
    this.#reading.add(sending)
    if (this.#reading.size >= READERS) await Promise.race(this.#reading)
  }

  /** Sends a file in pieces, and an empty one at its end. */
  async #sendContent(number: number): Promise<void> {
    const file = this.#files.get(number)
    if (!file) throw new Error(`the builder asked for file ${number}, which was not offered`)
    this.#files.delete(number)
    let last: Packet | undefined
    for await (const data of this.#folder.content(file)) {
      if (last) await this.#stream.send(last)
      last = { type: DATA, ID: number, data }
    }
    await this.#stream.send(...(last ? [last] : []), { type: DATA, ID: number })
  }
}
