import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { lstat, open, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'

const BLOCK = 512
/** Largest file size in bytes that a header can hold in octal digits. */
const MOST_OCTAL = 0o77777777777

/** Numbers of files and bytes that were written. */
export interface TarCounts {
  files: number
  bytes: number
}

/**
 * Yields a tar archive of a file, link or folder of this machine, under the name `name` instead of its real name. Links
 * are kept as links. Sockets, pipes, devices and names that are not UTF-8 are skipped and passed to `skipped`, with the
 * reason as a clause. Long names are written as GNU tar does, because busybox does not read the headers of pax.
 */
export async function* writeTar(
  path: string,
  name: string,
  counts: TarCounts,
  skipped: (path: string, reason: string) => void,
): AsyncGenerator<Buffer> {
  yield* entriesOf(path, name, counts, skipped)
  yield Buffer.alloc(2 * BLOCK)
}

async function* entriesOf(
  path: string,
  name: string,
  counts: TarCounts,
  skipped: (path: string, reason: string) => void,
): AsyncGenerator<Buffer> {
  const found = await lstat(path)
  const of = { mode: found.mode & 0o777, seconds: Math.max(0, Math.floor(found.mtimeMs / 1000)) }
  if (found.isSymbolicLink()) {
    const link = await readlink(path, { encoding: 'buffer' })
    if (!isUtf8(link)) return skipped(path, 'its target is not UTF-8')
    counts.files++
    yield headerOf({ ...of, name, type: '2', size: 0, link: link.toString() })
  } else if (found.isDirectory()) {
    // The folder that the content is copied into keeps its mode.
    if (name !== '.') yield headerOf({ ...of, name: `${name}/`, type: '5', size: 0, link: '' })
    for (const one of (await readdir(path, { encoding: 'buffer' })).sort(Buffer.compare))
      if (isUtf8(one)) yield* entriesOf(join(path, `${one}`), `${name}/${one}`, counts, skipped)
      else skipped(join(path, `${one}`), 'its name is not UTF-8')
  } else if (found.isFile()) {
    counts.files++
    yield* fileOf(path, { ...of, name, type: '0', link: '' }, counts)
  } else skipped(path, 'it is a device, a pipe or a socket')
}

/**
 * Yields the entry of a file, with the size that the file has when it is opened. If the file shrinks while it is read,
 * zeros replace the missing bytes, so that the archive stays readable.
 */
async function* fileOf(path: string, of: Omit<Entry, 'size'>, counts: TarCounts): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    const { size } = await file.stat()
    yield headerOf({ ...of, size })
    counts.bytes += size
    let left = size
    while (left > 0) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(left, 65_536)))
      if (bytesRead === 0) break
      left -= bytesRead
      yield buffer.subarray(0, bytesRead)
    }
    for (; left > 0; left -= BLOCK) yield Buffer.alloc(Math.min(left, BLOCK))
    if (size % BLOCK > 0) yield Buffer.alloc(BLOCK - (size % BLOCK))
  } finally {
    await file.close()
  }
}

interface Entry {
  readonly name: string
  readonly type: '0' | '2' | '5' | 'L' | 'K'
  readonly size: number
  readonly mode: number
  /** Time of the last change, in seconds since 1970. */
  readonly seconds: number
  readonly link: string
}

function headerOf(entry: Entry): Buffer {
  const long = [
    ...(Buffer.byteLength(entry.link) > 100 ? [longOf('K', entry.link)] : []),
    ...(Buffer.byteLength(entry.name) > 100 ? [longOf('L', entry.name)] : []),
  ]
  return Buffer.concat([...long, blockOf(entry)])
}

/** Returns the extra entry that contains a name too long for a header (https://www.gnu.org/software/tar/manual/). */
function longOf(type: 'L' | 'K', text: string): Buffer {
  const content = Buffer.from(`${text}\0`)
  const header = blockOf({ name: '././@LongLink', type, size: content.length, mode: 0o644, seconds: 0, link: '' })
  return Buffer.concat([header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)])
}

function blockOf({ name, type, size, mode, seconds, link }: Entry): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at)
  Buffer.from(name).copy(block, 0, 0, 100)
  octal(mode, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  if (size <= MOST_OCTAL) octal(size, 124, 12)
  else {
    block[124] = 0x80
    block.writeBigUInt64BE(BigInt(size), 128)
  }
  octal(Math.min(seconds, MOST_OCTAL), 136, 12)
  block.fill(' ', 148, 156)
  block.write(type, 156)
  Buffer.from(link).copy(block, 157, 0, 100)
  block.write('ustar\u000000', 257, 'latin1')
  const sum = block.reduce((all, byte) => all + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
