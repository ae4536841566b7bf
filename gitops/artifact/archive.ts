import { gunzipSync, gzipSync } from 'node:zlib'
import { isInside } from '../../project/lock.ts'

const BLOCK = 512
/** Maximum length of a name in its header field, in bytes. */
const LONGEST_NAME = 100
/** Maximum unpacked size of an archive, in bytes. */
const LARGEST = 256 * 1024 * 1024

/**
 * Packs files as `.tar.gz` (https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html). The archive contains
 * only paths and contents, sorted, without times and owners, so that the same files produce the same archive.
 */
export function pack(files: ReadonlyMap<string, string>): Uint8Array {
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1))
  const parts = sorted.flatMap(([path, text]) => entry(path, Buffer.from(text)))
  const packed = gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]), { level: 9 })
  // Operating system that packed the archive (RFC 1952, 2.3.1): unknown.
  packed[9] = 255
  return packed
}

/**
 * Returns the texts of the files in an archive, without links and devices. The keys are paths in the archive, with `/`
 * as the separator. Undefined if the bytes are not an archive, or if a path leads outside the archive.
 */
export function unpack(bytes: Uint8Array): ReadonlyMap<string, string> | undefined {
  let archive: Buffer
  try {
    archive = gunzipSync(bytes, { maxOutputLength: LARGEST })
  } catch {
    return undefined
  }
  const files = new Map<string, string>()
  let longName: string | undefined
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const header = archive.subarray(at, at + BLOCK)
    const size = Number.parseInt(textIn(header, 124, 12), 8) || 0
    const content = archive.subarray(at + BLOCK, at + BLOCK + size)
    if (checksum(header) !== Number.parseInt(textIn(header, 148, 8), 8) || content.length < size) return undefined
    const type = textIn(header, 156, 1)
    if (type === 'x') longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(content.toString('utf8'))?.[1]
    // GNU's extension for long names.
    else if (type === 'L') longName = textIn(content, 0, size)
    else {
      const path = (longName ?? nameIn(header)).replace(/^\.\//, '')
      longName = undefined
      if (type === '' || type === '0') {
        if (!isInside(path)) return undefined
        files.set(path, content.toString('utf8'))
      }
    }
    at += BLOCK + padded(size)
  }
  return files
}

function entry(path: string, content: Buffer): readonly Buffer[] {
  const isLong = Buffer.byteLength(path) > LONGEST_NAME
  const long = isLong ? [header('@LongName', 'x', record('path', path)), block(record('path', path))] : []
  return [...long, header(isLong ? '@' : path, '0', content), block(content)]
}

/** Returns a header in the `ustar` format. */
function header(name: string, type: string, { length }: Buffer): Buffer {
  const made = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  made.write(name, 0)
  for (const [at, text] of [
    [100, octal(0o644, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(length, 11)],
    [136, octal(0, 11)],
    [156, type],
    [257, 'ustar\u000000'],
  ] as const)
    made.write(text, at)
  made.write(`${checksum(made).toString(8).padStart(6, '0')}\0 `, 148)
  return made
}

/** Returns the sum of all bytes, with the checksum field counted as blanks. */
function checksum(header: Buffer): number {
  let sum = 0
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte
  return sum
}

/**
 * Returns a pax record: `LENGTH KEY=VALUE` and a line end. The length is the number of bytes of the full record,
 * including the digits of the length.
 */
function record(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest
  while (`${length}`.length + rest !== length) length = `${length}`.length + rest
  return Buffer.from(`${length} ${key}=${value}\n`)
}

const padded = (size: number) => Math.ceil(size / BLOCK) * BLOCK

const block = (content: Buffer) => Buffer.concat([content, Buffer.alloc(padded(content.length) - content.length)])

function textIn(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? length : end)
}

function nameIn(header: Buffer): string {
  const prefix = textIn(header, 257, 6) === 'ustar' ? textIn(header, 345, 155) : ''
  return prefix === '' ? textIn(header, 0, 100) : `${prefix}/${textIn(header, 0, 100)}`
}
