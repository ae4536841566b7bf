import { MESSAGES, type WireField } from './messages.ts'

/**
 * Messages in protobuf encoding (https://protobuf.dev/programming-guides/encoding/), as described by the table
 * `MESSAGES`. Absent, empty, zero and false values are not written, and are absent after decoding. Bytes to write may
 * be in several chunks.
 */

/** Value of a message; `WireField` describes the values of its fields. */
export type WireValue = Readonly<Record<string, unknown>>

const VARINT = 0
const BITS_64 = 1
const BYTES = 2
const BITS_32 = 5

/** Encodes a message. `name` is the name of the message in the table `MESSAGES`. */
export function encodeMessage(name: string, value: WireValue): Buffer {
  const parts: Uint8Array[] = []
  for (const [key, field] of Object.entries(MESSAGES[name]!)) {
    const found = value[key]
    if (field.isMap) for (const entry of Object.entries(found ?? {})) putEntry(parts, field.id, entry)
    else if (field.isList) for (const one of (found ?? []) as readonly unknown[]) put(parts, field, one)
    else if (hasValue(found)) put(parts, field, found)
  }
  return Buffer.concat(parts)
}

const hasValue = (value: unknown): boolean => Boolean(value) && !(value instanceof Uint8Array && value.length === 0)

/** Writes an entry of a map, which protobuf encodes as a list of messages with a key and a value. */
function putEntry(parts: Uint8Array[], id: number, [key, value]: readonly [string, unknown]): void {
  const entry: Uint8Array[] = []
  putBytes(entry, 1, Buffer.from(key))
  putBytes(entry, 2, Buffer.from(String(value)))
  putBytes(parts, id, Buffer.concat(entry))
}

function put(parts: Uint8Array[], { id, type }: WireField, value: unknown): void {
  switch (type) {
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'bool':
      parts.push(numbers(id * 8 + VARINT, Number(value)))
      return
    case 'string':
      putBytes(parts, id, Buffer.from(String(value)))
      return
    case 'bytes':
      putBytes(parts, id, ...(Array.isArray(value) ? (value as Uint8Array[]) : [value as Uint8Array]))
      return
    default:
      putBytes(parts, id, encodeMessage(type, value as WireValue))
  }
}

function putBytes(parts: Uint8Array[], id: number, ...pieces: readonly Uint8Array[]): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  parts.push(numbers(id * 8 + BYTES, length), ...pieces)
}

/** Encodes non-negative numbers as consecutive varints. */
function numbers(...values: readonly number[]): Buffer {
  const buffer = Buffer.allocUnsafe(values.length * 10)
  return buffer.subarray(
    0,
    values.reduce((at, value) => putVarint(buffer, at, value), 0),
  )
}

/** Writes a non-negative number, and returns the position after it. */
export function putVarint(buffer: Buffer, start: number, value: number): number {
  let at = start
  let rest = value
  while (rest > 0x7f) {
    buffer[at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  buffer[at++] = rest
  return at
}

/**
 * Decodes a message. `name` is the name of the message in the table `MESSAGES`. Throws an Error if the bytes are not
 * such a message.
 */
export function decodeMessage(name: string, bytes: Uint8Array): WireValue {
  const fields = fieldsOf(name)
  const value: Record<string, unknown> = {}
  const reader = new Reader(bytes)
  while (reader.hasMore()) {
    const tag = reader.varint()
    const [key, field] = fields.get(Math.floor(tag / 8)) ?? []
    if (key === undefined || !field) reader.skip(tag % 8)
    else if (tag % 8 !== wireTypeOf(field)) throw new Error(`${name}.${key} has another type`)
    else value[key] = withField(value[key], field, reader)
  }
  return value
}

/**
 * Reads one occurrence of a field and returns the new value of the field. Map entries and list items are added to
 * `before`.
 */
function withField(before: unknown, field: WireField, reader: Reader): unknown {
  if (field.isMap) return Object.assign((before ?? {}) as object, entryOf(reader.bytes()))
  const value = readValue(field, reader)
  if (!field.isList) return value
  const list = (before ?? []) as unknown[]
  list.push(value)
  return list
}

const known = new Map<string, ReadonlyMap<number, readonly [key: string, field: WireField]>>()

function fieldsOf(name: string) {
  const fields =
    known.get(name) ?? new Map(Object.entries(MESSAGES[name]!).map(([key, field]) => [field.id, [key, field] as const]))
  known.set(name, fields)
  return fields
}

const NUMBERS: ReadonlySet<string> = new Set(['int32', 'int64', 'uint32', 'bool'])

const wireTypeOf = ({ type, isMap }: WireField): number => (NUMBERS.has(type) && !isMap ? VARINT : BYTES)

function entryOf(bytes: Uint8Array): Readonly<Record<string, string>> {
  const texts = ['', '', '']
  const reader = new Reader(bytes)
  while (reader.hasMore()) {
    const tag = reader.varint()
    if (tag % 8 === BYTES && tag < 24) texts[Math.floor(tag / 8)] = textOf(reader.bytes())
    else reader.skip(tag % 8)
  }
  const [, key = '', value = ''] = texts
  return { [key]: value }
}

function readValue({ type }: WireField, reader: Reader): unknown {
  switch (type) {
    case 'int32':
      return reader.varint() | 0
    case 'int64':
      return reader.varint()
    case 'uint32':
      return reader.varint() >>> 0
    case 'bool':
      return reader.varint() !== 0
    case 'string':
      return textOf(reader.bytes())
    case 'bytes':
      return reader.bytes()
    default:
      return decodeMessage(type, reader.bytes())
  }
}

const textOf = (bytes: Buffer): string => bytes.toString()

/**
 * Combines the lower 28 bits and the remaining upper bits of a signed 64-bit number in two's complement, and returns
 * the number.
 */
function signed(low: number, high: number): number {
  const upper = high % 2 ** 36
  return (upper < 2 ** 35 ? upper : upper - 2 ** 36) * 2 ** 28 + low
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  hasMore(): boolean {
    return this.#at < this.#bytes.length
  }

  /** Reads a signed 64-bit number, rounded to the nearest double. */
  varint(): number {
    let low = 0
    let high = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#move(1)]!
      const bits = byte & 0x7f
      if (shift < 28) low += bits * 2 ** shift
      else high += bits * 2 ** (shift - 28)
      if (byte === bits) return signed(low, high)
    }
    throw new Error('a number is too long')
  }

  bytes(): Buffer {
    const length = this.varint()
    const start = this.#move(length)
    return this.#bytes.subarray(start, start + length)
  }

  skip(wireType: number): void {
    if (wireType === VARINT) this.varint()
    else if (wireType === BYTES) this.bytes()
    else if (wireType === BITS_64) this.#move(8)
    else if (wireType === BITS_32) this.#move(4)
    else throw new Error(`unknown type ${wireType}`)
  }

  /** Moves past the next bytes and returns the position at which they begin. Throws if the message is truncated. */
  #move(length: number): number {
    const start = this.#at
    if (length < 0 || start + length > this.#bytes.length) throw new Error('the message is cut off')
    this.#at = start + length
    return start
  }
}
