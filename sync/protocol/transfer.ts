import { createHash, type Hash } from 'node:crypto'
import { BLOCK, Delta, type DeltaPart, decodeSums, encodeSums } from '../core/blocks.ts'
import { type SyncClock, turn } from '../core/clock.ts'
import { copyEntry, type FileEntry, isUntouched } from '../core/entry.ts'
import type { Disk } from '../stage/disk.ts'

/**
 * Size of a part in bytes. Large files are sent in parts; if the other side has an old version, only the differences
 * are sent.
 */
export const PART = 1 << 20

export interface SendInput {
  readonly disk: Disk
  readonly clock: SyncClock
  readonly place: string
  /** Block checksums of the other side's version, as `sumsOf` returns them. Empty if the other side has no version. */
  readonly sums: Buffer
  /**
   * True to stop sending as soon as the file changes. False to send the file even if it changes during the transfer.
   */
  readonly onlyAtRest: boolean
  /** Sends a part. It must call `taken` once the bytes are sent, because their buffer is reused. */
  readonly send: (part: DeltaPart, taken: () => void) => void
  /** Resolves to true when more may be sent, and to false if nothing more may be sent. */
  readonly ready: () => Promise<boolean>
}

export type SendResult =
  | { readonly kind: 'sent'; readonly entry: FileEntry; readonly hash: string; readonly isStill: boolean }
  | { readonly kind: 'gone' | 'moving' | 'cut' }

/**
 * Reads a file once from the start, and sends the parts that the other side does not have. Throws the errors of the
 * disk.
 */
export async function sendParts(input: SendInput): Promise<SendResult> {
  const { disk, clock, place, sums, onlyAtRest, send, ready } = input
  const file = disk.open(place, 'read')
  try {
    const before = disk.opened(file)
    if (!before) return { kind: 'gone' }
    const hash = createHash('sha256')
    const delta = sums.length > 0 ? new Delta(decodeSums(sums)) : undefined
    const joined = new JoinedCopies(part => send(part, () => {}))
    const spare: Buffer[] = []
    // Bytes that are appended meanwhile are sent next time.
    for (let position = 0; position < before.size; ) {
      const buffer = spare.pop() ?? Buffer.allocUnsafe(Math.min(PART, before.size))
      const size = disk.read(file, buffer.subarray(0, before.size - position), position)
      if (size === 0) break
      const piece = buffer.subarray(0, size)
      position += size
      hash.update(piece)
      if (delta) for (const part of delta.push(piece)) joined.add(part)
      else send({ kind: 'bytes', bytes: piece }, () => void spare.push(buffer))
      if (onlyAtRest && !isUntouched(before, disk.opened(file))) return { kind: 'moving' }
      await turn(clock)
      if (!(await ready())) return { kind: 'cut' }
    }
    if (delta) for (const part of delta.end()) joined.add(part)
    joined.end()
    return {
      kind: 'sent',
      entry: copyEntry(before),
      hash: hash.digest('base64'),
      isStill: isUntouched(before, disk.opened(file)),
    }
  } finally {
    disk.close(file)
  }
}

/** Joins parts that copy consecutive ranges of the old file into one part. */
class JoinedCopies {
  readonly #send: (part: DeltaPart) => void
  #copy: { readonly kind: 'copy'; readonly from: number; readonly length: number } | undefined

  constructor(send: (part: DeltaPart) => void) {
    this.#send = send
  }

  add(part: DeltaPart): void {
    const copy = this.#copy
    if (part.kind === 'copy' && copy && copy.from + copy.length === part.from && copy.length < 64 * BLOCK) {
      this.#copy = { ...copy, length: copy.length + part.length }
      return
    }
    this.end()
    if (part.kind === 'copy') this.#copy = part
    else this.#send(part)
  }

  end(): void {
    if (this.#copy) this.#send(this.#copy)
    this.#copy = undefined
  }
}

/** Returns the block checksums of an existing file, for the side that has the new version. */
export async function sumsOf(disk: Disk, clock: SyncClock, place: string): Promise<Buffer> {
  const file = disk.open(place, 'read')
  try {
    const entries: Buffer[] = []
    const block = Buffer.allocUnsafe(BLOCK)
    for (let position = 0; ; position += BLOCK) {
      if (disk.read(file, block, position) < BLOCK) return Buffer.concat(entries)
      entries.push(encodeSums([block]))
      if (position % (8 * BLOCK) === 0) await turn(clock)
    }
  } finally {
    disk.close(file)
  }
}

/** Assembles a received file in the stage, a temporary file. Its methods throw the errors of the disk. */
export class Receiver {
  readonly stage: string
  readonly #disk: Disk
  readonly #hash: Hash = createHash('sha256')
  readonly #file: number
  readonly #old: number | undefined
  #size = 0
  #isClosed = false

  constructor(disk: Disk, stage: string, old: string | undefined, executable: boolean) {
    this.#disk = disk
    this.stage = stage
    this.#old = old === undefined ? undefined : disk.open(old, 'read')
    try {
      this.#file = disk.open(stage, 'create', executable)
    } catch (error) {
      if (this.#old !== undefined) disk.close(this.#old)
      throw error
    }
  }

  /** Gives the file the permissions of another one, before it has contents. */
  copyMode(from: string): void {
    this.#disk.copyMode(from, this.#file)
  }

  add(part: DeltaPart): void {
    if (part.kind === 'bytes') this.#write(part.bytes)
    else this.#copy(part.from, part.length)
  }

  /**
   * Copies all of the old version, whose size is in bytes. Stops and returns false as soon as `goesOn` returns false.
   */
  async addAll(size: number, clock: SyncClock, goesOn: () => boolean): Promise<boolean> {
    for (let from = 0; from < size; from += PART) {
      this.#copy(from, Math.min(PART, size - from))
      await turn(clock)
      if (!goesOn()) return false
    }
    return true
  }

  /** Closes the file. Returns true if its size and hash match the sent file. */
  finish(size: number, hash: string): boolean {
    this.#close()
    return this.#size === size && this.#hash.digest('base64') === hash
  }

  /** Closes the file and deletes it. */
  abort(): void {
    this.#close()
    try {
      this.#disk.removeFile(this.stage)
    } catch {
      // The file was renamed or deleted.
    }
  }

  #write(bytes: Uint8Array): void {
    this.#disk.write(this.#file, bytes, this.#size)
    this.#hash.update(bytes)
    this.#size += bytes.length
  }

  #copy(from: number, length: number): void {
    if (this.#old === undefined) throw new Error('there is no old version to copy from')
    const buffer = Buffer.allocUnsafe(Math.min(length, 8 * BLOCK))
    for (let done = 0; done < length; ) {
      const piece = buffer.subarray(0, Math.min(buffer.length, length - done))
      const size = this.#disk.read(this.#old, piece, from + done)
      if (size === 0) throw new Error('the old version is shorter than it was')
      this.#write(piece.subarray(0, size))
      done += size
    }
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#disk.close(this.#file)
    if (this.#old !== undefined) this.#disk.close(this.#old)
  }
}
