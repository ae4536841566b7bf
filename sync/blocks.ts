import { createHash } from 'node:crypto'

/** What is sent of a large file of which the other side has an old version. */
export const BLOCK = 128 << 10

/** Sums of the blocks of a file: a rolling one to find them, and a strong one to be sure. */
export interface BlockSums {
  readonly weak: Uint32Array
  /** 16 bytes for each block. */
  readonly strong: Buffer
}

const STRONG = 16
const ENTRY = 4 + STRONG

export const strongSum = (block: Uint8Array): Buffer => createHash('sha256').update(block).digest().subarray(0, STRONG)

/** Adler's sum as rsync uses it, over whole blocks. */
export function weakSum(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let a = 0
  let b = 0
  for (let at = start; at < end; at++) {
    a += bytes[at]!
    b = (b + a) | 0
  }
  return ((b & 0xffff) << 16) | (a & 0xffff)
}

/** One block after the other; only whole blocks count. */
export function encodeSums(blocks: Iterable<Uint8Array>): Buffer {
  const entries: Buffer[] = []
  for (const block of blocks) {
    if (block.length !== BLOCK) break
    const entry = Buffer.alloc(ENTRY)
    entry.writeUInt32BE(weakSum(block) >>> 0, 0)
    strongSum(block).copy(entry, 4)
    entries.push(entry)
  }
  return Buffer.concat(entries)
}

/** Throws an Error if the bytes are not sums. */
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

/** A part of the new file: bytes of the old one, or new bytes. */
export type DeltaPart =
  | { readonly kind: 'copy'; readonly from: number; readonly length: number }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }

/**
 * Finds what the other side has. `push` takes the new file piece by piece and yields the parts that are certain; `end`
 * yields the rest. A block is first looked for where it would be if nothing moved, then anywhere.
 */
export class Delta {
  readonly #sums: BlockSums
  readonly #byWeak = new Map<number, number[]>()
  /** Bytes that have not become parts, and how far the window in them has got. */
  #pending: Buffer = Buffer.alloc(0)
  #window = 0
  #a = 0
  #b = 0
  #hasSum = false
  /** The block that would follow. */
  #next = 0

  constructor(sums: BlockSums) {
    this.#sums = sums
    sums.weak.forEach((weak, block) => {
      const known = this.#byWeak.get(weak)
      if (!known) this.#byWeak.set(weak, [block])
      // Blocks of zeros: one is as good as all the others.
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

  /** The bytes before the window, as many as given. */
  *#literal(length: number): Generator<DeltaPart> {
    if (length === 0) return
    yield { kind: 'bytes', bytes: this.#pending.subarray(0, length) }
    this.#pending = this.#pending.subarray(length)
    this.#window = Math.max(0, this.#window - length)
  }

  #find(): number | undefined {
    const { weak } = this.#sums
    if (!this.#hasSum) {
      // In most files most blocks are where they were: then there is no need to roll.
      if (this.#next < weak.length && this.#isBlock(this.#next)) return this.#next
      this.#startSum()
    }
    const found = this.#byWeak.get((((this.#b & 0xffff) << 16) | (this.#a & 0xffff)) >>> 0)
    return found?.find(block => this.#isBlock(block))
  }

  #isBlock(block: number): boolean {
    const bytes = this.#pending.subarray(this.#window, this.#window + BLOCK)
    return strongSum(bytes).equals(this.#sums.strong.subarray(block * STRONG, (block + 1) * STRONG))
  }

  #startSum(): void {
    const sum = weakSum(this.#pending, this.#window, this.#window + BLOCK)
    this.#a = sum & 0xffff
    this.#b = sum >>> 16
    this.#hasSum = true
  }

  /** Moves the window until its sum is known, or as far as there are bytes. False: more are needed. */
  #roll(): boolean {
    const bytes = this.#pending
    const last = bytes.length - BLOCK
    let at = this.#window
    let a = this.#a
    let b = this.#b
    const limit = Math.min(last, 2 * BLOCK)
    while (at < limit) {
      const out = bytes[at]!
      a = (a - out + bytes[at + BLOCK]!) & 0xffff
      b = (b - BLOCK * out + a) & 0xffff
      at++
      if (this.#byWeak.has(((b << 16) | a) >>> 0)) break
    }
    const moved = at > this.#window
    this.#window = at
    this.#a = a
    this.#b = b
    return moved
  }
}
