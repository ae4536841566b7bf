import { createHash } from 'node:crypto'

/**
 * Block size in bytes. A changed large file is sent as differences from the other side's old version, block by block.
 */
export const BLOCK = 128 << 10

/** Checksums of the blocks of a file: a rolling checksum to find blocks, and a strong checksum to confirm them. */
export interface BlockSums {
  readonly weak: Uint32Array
  /** Strong checksums, 16 bytes per block. */
  readonly strong: Buffer
}

const STRONG = 16
const ENTRY = 4 + STRONG

const strongSum = (block: Uint8Array): Buffer => createHash('sha256').update(block).digest().subarray(0, STRONG)

/**
 * Base of the rolling checksum, a polynomial modulo 2^32. The Adler checksum of rsync has equal values for all blocks
 * that consist of one repeated byte: when a file of ones replaces a file of zeros, every position would be a false
 * match.
 */
const BASE = 1_664_525

/**
 * Factor of the byte that leaves the window when the window moves by one byte: `BASE` to the power of `BLOCK`, modulo
 * 2^32.
 */
const LEAVING = Array.from({ length: BLOCK }).reduce<number>(power => Math.imul(power, BASE), 1)

/** Returns the rolling checksum of the bytes. */
export function weakSum(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let sum = 0
  for (let at = start; at < end; at++) sum = (Math.imul(sum, BASE) + bytes[at]!) | 0
  return sum >>> 0
}

/**
 * Maximum number of false matches of the rolling checksum. If there are more, blocks are only searched for at their old
 * positions. The other side chooses the checksums, and could otherwise keep this side busy.
 */
const WRONG = 500

/** Encodes the checksums of the blocks, in order. Only blocks of full size count. */
export function encodeSums(blocks: Iterable<Uint8Array>): Buffer {
  const entries: Buffer[] = []
  for (const block of blocks) {
    if (block.length !== BLOCK) break
    const entry = Buffer.alloc(ENTRY)
    entry.writeUInt32BE(weakSum(block), 0)
    strongSum(block).copy(entry, 4)
    entries.push(entry)
  }
  return Buffer.concat(entries)
}

/** Decodes the checksums of blocks. Throws an Error if the length is invalid. */
export function decodeSums(bytes: Buffer): BlockSums {
  if (bytes.length % ENTRY !== 0) throw new Error('the sums of blocks are not whole')
  const count = bytes.length / ENTRY
  const weak = new Uint32Array(count)
  const strong = Buffer.alloc(count * STRONG)
  for (let at = 0; at < count; at++) {
    weak[at] = bytes.readUInt32BE(at * ENTRY)
    bytes.copy(strong, at * STRONG, at * ENTRY + 4, (at + 1) * ENTRY)
  }
  return { weak, strong }
}

/** Part of the new file: a range copied from the old file, or new bytes. */
export type DeltaPart =
  | { readonly kind: 'copy'; readonly from: number; readonly length: number }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }

/**
 * Finds the blocks of the new file that the other side already has in its old file. `push` accepts the next bytes of
 * the new file and yields the parts that are already certain; `end` yields the rest. A block is first searched for
 * directly after the previous match, then at any position.
 */
export class Delta {
  readonly #sums: BlockSums
  readonly #byWeak = new Map<number, number[]>()
  /** Bytes that have not become parts yet, and the position of the window within them. */
  #pending: Buffer = Buffer.alloc(0)
  #window = 0
  #sum = 0
  #hasSum = false
  #wrong = 0
  /** Number of the block after the previous match, which is tried first. */
  #next = 0

  constructor(sums: BlockSums) {
    this.#sums = sums
    sums.weak.forEach((weak, block) => {
      const known = this.#byWeak.get(weak)
      if (!known) this.#byWeak.set(weak, [block])
      // Many blocks can be equal, such as blocks of zeros: a few of them are enough.
      else if (known.length < 8) known.push(block)
    })
  }

  *push(piece: Buffer): Generator<DeltaPart> {
    this.#pending = this.#pending.length === 0 ? piece : Buffer.concat([this.#pending, piece])
    while (this.#pending.length - this.#window >= BLOCK) {
      const found = this.#find()
      if (found !== undefined) {
        yield* this.#literal(this.#window)
        yield { kind: 'copy', from: found * BLOCK, length: BLOCK }
        this.#pending = this.#pending.subarray(BLOCK)
        this.#next = found + 1
        this.#hasSum = false
      } else if (!this.#roll()) break
      if (this.#window >= 2 * BLOCK) yield* this.#literal(BLOCK)
    }
  }

  *end(): Generator<DeltaPart> {
    yield* this.#literal(this.#pending.length)
  }

  /** Yields the first `length` pending bytes, which precede the window. */
  *#literal(length: number): Generator<DeltaPart> {
    if (length === 0) return
    yield { kind: 'bytes', bytes: this.#pending.subarray(0, length) }
    this.#pending = this.#pending.subarray(length)
    this.#window = Math.max(0, this.#window - length)
  }

  #find(): number | undefined {
    const { weak } = this.#sums
    if (!this.#hasSum) {
      // Most blocks have not moved in most files, so rolling is unnecessary.
      if (this.#next < weak.length && this.#isBlock(this.#next)) return this.#next
      this.#startSum()
    }
    const known = this.#wrong < WRONG ? this.#byWeak.get(this.#sum) : undefined
    if (!known) return undefined
    const strong = this.#strong()
    const found = known.find(block => this.#hasStrong(block, strong))
    if (found === undefined) this.#wrong++
    return found
  }

  #isBlock(block: number): boolean {
    return this.#hasStrong(block, this.#strong())
  }

  #strong(): Buffer {
    return strongSum(this.#pending.subarray(this.#window, this.#window + BLOCK))
  }

  #hasStrong(block: number, strong: Buffer): boolean {
    return strong.equals(this.#sums.strong.subarray(block * STRONG, (block + 1) * STRONG))
  }

  #startSum(): void {
    this.#sum = weakSum(this.#pending, this.#window, this.#window + BLOCK)
    this.#hasSum = true
  }

  /**
   * Moves the window to the next position at which the checksum equals the checksum of a block of the other side.
   * Without such a position, moves it as far as possible. Returns false if the window cannot move before more bytes
   * arrive.
   */
  #roll(): boolean {
    const bytes = this.#pending
    const last = bytes.length - BLOCK
    let at = this.#window
    let sum = this.#sum
    const limit = Math.min(last, 2 * BLOCK)
    const isLooking = this.#wrong < WRONG
    while (at < limit) {
      sum = (Math.imul(sum, BASE) - Math.imul(bytes[at]!, LEAVING) + bytes[at + BLOCK]!) >>> 0
      at++
      if (isLooking && this.#byWeak.has(sum)) break
    }
    const moved = at > this.#window
    this.#window = at
    this.#sum = sum
    return moved
  }
}
