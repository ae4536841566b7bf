import { isUtf8 } from 'node:buffer'

const BLOCK = 512
/** Maximum size in bytes of a long name, or of the extended header of an entry. */
const LONGEST_META = 1_048_576

/** Entry of a tar archive. Its names are not checked: they may point to any path. */
export interface TarEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'hard-link' | 'other'
  readonly mode: number
  readonly size: number
  /** Target of a link. */
  readonly link: string
  /**
   * False if the name or the link is not UTF-8. The decoded text then differs from the real one, and several entries
   * may have the same text.
   */
  readonly isUtf8: boolean
  /** Content of a file in parts. Unread parts are skipped. */
  readonly content: AsyncIterable<Buffer>
}

/** Error in the format of an archive. The message is a clause. */
export class TarError extends Error {}

/**
 * Yields the entries of a tar archive: ustar, with the long names of GNU tar and the extended headers of pax. Throws a
 * TarError for anything else, and for an archive that ends early.
 */
export async function* readTar(input: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const reader = new Blocks(input)
  let long: Extension = {}
  for (;;) {
    const header = await reader.take(BLOCK, true)
    if (header === undefined || header.every(byte => byte === 0)) break
    const { type, ...entry } = parseHeader(header)
    const size = long.size ?? entry.size
    if ('LKxg'.includes(type)) {
      if (entry.size > LONGEST_META) throw new TarError('a header is too long')
      const content = (await reader.take(entry.size))!
      await reader.skip(padding(entry.size))
      if (type === 'L') long = { ...long, name: untilNull(content) }
      else if (type === 'K') long = { ...long, link: untilNull(content) }
      else if (type === 'x') long = { ...long, ...parsePax(content) }
      continue
    }
    const body = reader.body(size)
    const kind = KINDS[type] ?? 'other'
    const { name, link } = { ...entry, ...long }
    const texts = { name: name.toString(), link: link.toString(), isUtf8: isUtf8(name) && isUtf8(link) }
    yield { ...texts, kind, mode: entry.mode, size, content: body }
    for await (const _ of body);
    await reader.skip(padding(size))
    long = {}
  }
  // The program that writes the archive fails if its output is not read to the end.
  await reader.drain()
}

/** Values that replace the values in the header of the entry that follows. */
interface Extension {
  readonly name?: Buffer
  readonly link?: Buffer
  readonly size?: number
}

const KINDS: Readonly<Record<string, TarEntry['kind']>> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file',
  '1': 'hard-link',
  '2': 'link',
  '5': 'folder',
}

const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK

function parseHeader(block: Buffer) {
  const sum = block.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0)
  if (numberAt(block, 148, 8) !== sum) throw new TarError('it is not a tar archive')
  const text = (at: number, length: number) => untilNull(block.subarray(at, at + length))
  // GNU tar writes other fields in the place of the prefix.
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? text(345, 155) : Buffer.alloc(0)
  return {
    name: prefix.length === 0 ? text(0, 100) : Buffer.concat([prefix, Buffer.from('/'), text(0, 100)]),
    mode: numberAt(block, 100, 8),
    size: numberAt(block, 124, 12),
    type: block.toString('latin1', 156, 157),
    link: text(157, 100),
  }
}

function untilNull(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0)
  return end === -1 ? bytes : bytes.subarray(0, end)
}

function numberAt(block: Buffer, at: number, length: number): number {
  const field = block.subarray(at, at + length)
  if ((field[0]! & 0x80) !== 0) {
    const value = field.subarray(1).reduce((all, byte) => all * 256 + byte, field[0]! & 0x7f)
    if (!Number.isSafeInteger(value)) throw new TarError('a number is too large')
    return value
  }
  const digits = field.toString('latin1').replace(/^ +|[\0 ].*$/gs, '')
  if (!/^[0-7]*$/.test(digits)) throw new TarError('a number is not valid')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

/** Parses records such as `30 mtime=1700000000.123\n`; the number is the length of the record in bytes. */
function parsePax(content: Buffer): Extension {
  let found: Extension = {}
  for (let at = 0; at < content.length; ) {
    const [, digits = ''] = /^(\d+) /.exec(content.toString('latin1', at, at + 12)) ?? []
    const length = Number(digits)
    if (digits === '' || length <= digits.length || at + length > content.length)
      throw new TarError('an extended header is not valid')
    const record = content.subarray(at + digits.length + 1, at + length - 1)
    const equals = record.indexOf('=')
    found = { ...found, ...extensionOf(record.toString('utf8', 0, equals), record.subarray(equals + 1)) }
    at += length
  }
  return found
}

function extensionOf(key: string, value: Buffer): Extension {
  if (key === 'path') return { name: value }
  if (key === 'linkpath') return { link: value }
  if (key !== 'size') return {}
  if (!/^\d{1,15}$/.test(value.toString())) throw new TarError('a number is not valid')
  return { size: Number(value.toString()) }
}

/** Reads exact numbers of bytes from a stream of parts of any length. */
class Blocks {
  readonly #input: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(input: AsyncIterable<Buffer>) {
    this.#input = input[Symbol.asyncIterator]()
  }

  /**
   * Returns the next `length` bytes; undefined at the end of the input if `mayEnd` is true. Throws a TarError if the
   * input ends too early.
   */
  async take(length: number, mayEnd = false): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    for (let left = length; left > 0; ) {
      const part = await this.#part(left)
      if (part === undefined) {
        if (mayEnd && parts.length === 0) return undefined
        throw new TarError('it ends early')
      }
      parts.push(part)
      left -= part.length
    }
    return Buffer.concat(parts)
  }

  async skip(length: number): Promise<void> {
    for await (const _ of this.body(length));
  }

  /** Returns the next `length` bytes in parts. A second iteration continues where the first one has ended. */
  body(length: number): AsyncIterable<Buffer> {
    let left = length
    const next = async (): Promise<IteratorResult<Buffer>> => {
      if (left === 0) return { done: true, value: undefined }
      const part = await this.#part(left)
      if (part === undefined) throw new TarError('it ends early')
      left -= part.length
      return { done: false, value: part }
    }
    return { [Symbol.asyncIterator]: () => ({ next }) }
  }

  async drain(): Promise<void> {
    while ((await this.#part(Number.MAX_SAFE_INTEGER)) !== undefined);
  }

  async #part(most: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#input.next()
      if (done) return undefined
      this.#rest = value
    }
    const part = this.#rest.subarray(0, most)
    this.#rest = this.#rest.subarray(part.length)
    return part
  }
}
