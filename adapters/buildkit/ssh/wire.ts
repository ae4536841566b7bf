/** Encodes and decodes values of the SSH protocol: https://www.rfc-editor.org/rfc/rfc4251#section-5 */

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Encodes a string: its length, then its bytes. */
export function string(value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  return Buffer.concat([uint32(bytes.length), bytes])
}

/** Encodes a non-negative integer. Adds a leading zero byte if the first bit is set, because that bit is the sign. */
export function mpint(value: Buffer): Buffer {
  const digits = withoutZeros(value)
  return string((digits[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.alloc(1), digits]) : digits)
}

export function withoutZeros(value: Buffer): Buffer {
  const first = value.findIndex(byte => byte !== 0)
  return first < 0 ? Buffer.alloc(0) : value.subarray(first)
}

/** Reads consecutive values. Its methods throw a RangeError if too few bytes are left. */
export class WireReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  bytes(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new RangeError('too few bytes')
    const found = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return found
  }

  uint32 = (): number => this.bytes(4).readUInt32BE()

  string = (): Buffer => this.bytes(this.uint32())

  text = (): string => this.string().toString()
}
