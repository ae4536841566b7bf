import { PREFIX, putPrefix } from '../session/frames.ts'
import { putVarint } from '../wire.ts'
import type { SyncedFile } from './stat.ts'

/** Field tags, each a field number combined with a wire type: https://protobuf.dev/programming-guides/encoding/. */
const PACKET_TYPE = 1 << 3
const PACKET_STAT = (2 << 3) | 2
const PACKET_ID = 3 << 3
const PACKET_DATA = (4 << 3) | 2
const PATH = (1 << 3) | 2
const MODE = 2 << 3
const SIZE = 5 << 3
const MOD_TIME = 6 << 3
const LINK_NAME = (7 << 3) | 2
const DEV_MAJOR = 8 << 3
const DEV_MINOR = 9 << 3

/** Type of packets with file content. */
const DATA = 2

/** Upper limit for the size of an encoded `Stat` without its strings, in bytes. */
const NUMBERS = 64
/**
 * Maximum number of UTF-8 bytes for one UTF-16 code unit: three. Characters that take four bytes consist of two code
 * units (a surrogate pair).
 */
const BYTES_OF_CHARACTER = 3
/** Maximum length of a 32-bit varint in bytes. */
const NUMBER = 5
/** Bytes before the `Stat`: a tag and a length. */
const STAT_HEAD = 1 + NUMBER

/** Returns an upper limit for the number of bytes that `putStat` writes for a file. */
export const sizeOfStat = ({ path, linkname }: SyncedFile): number =>
  PREFIX + STAT_HEAD + NUMBERS + (path.length + linkname.length) * BYTES_OF_CHARACTER

/**
 * Writes a file as `fsutil.types.Packet`, with the message prefix, and returns the position after it. A context may
 * have a hundred thousand files, so each packet is written directly to its final position, without copying.
 */
export function putStat(
  buffer: Buffer,
  start: number,
  { path, mode, size, modTime, linkname, devmajor, devminor }: SyncedFile,
): number {
  const begin = start + PREFIX + STAT_HEAD
  let at = putText(buffer, begin, PATH, path)
  at = putNumber(buffer, at, MODE, mode)
  at = putNumber(buffer, at, SIZE, size)
  buffer[at++] = MOD_TIME
  at = putVarint64(buffer, at, modTime)
  at = putText(buffer, at, LINK_NAME, linkname)
  at = putNumber(buffer, at, DEV_MAJOR, devmajor)
  at = putNumber(buffer, at, DEV_MINOR, devminor)
  putPrefix(buffer, start, at - start - PREFIX)
  buffer[start + PREFIX] = PACKET_STAT
  putLongVarint(buffer, start + PREFIX + 1, at - begin)
  return at
}

function putText(buffer: Buffer, start: number, tag: number, value: string): number {
  if (value === '') return start
  buffer[start] = tag
  const at = putVarint(buffer, start + 1, Buffer.byteLength(value))
  return at + buffer.write(value, at)
}

function putNumber(buffer: Buffer, start: number, tag: number, value: number | undefined): number {
  if (!value) return start
  buffer[start] = tag
  return putVarint(buffer, start + 1, value)
}

/** Number of bytes that `framePiece` needs before the content (`PIECE_HEAD`) and after it (`PIECE_TAIL`). */
export const PIECE_HEAD = PREFIX + 2 + 1 + NUMBER + 1 + NUMBER
export const PIECE_TAIL = PREFIX + 2 + 1 + NUMBER

/**
 * Wraps `length` bytes of file content, which are in the buffer after `PIECE_HEAD`, in the packet that BuildKit
 * expects, with the message prefix. `file` is the number of the file in the file list. If `isLast` is true, appends the
 * packet that marks the end of the file. Returns the part of the buffer to send.
 */
export function framePiece(buffer: Buffer, file: number, length: number, isLast: boolean): Buffer {
  const end = PIECE_HEAD + length
  if (length > 0) {
    putPrefix(buffer, 0, end - PREFIX)
    const at = putDataFields(buffer, PREFIX, file)
    buffer[at] = PACKET_DATA
    putLongVarint(buffer, at + 1, length)
  }
  if (!isLast) return buffer.subarray(0, end)
  const last = putDataFields(buffer, end + PREFIX, file)
  putPrefix(buffer, end, last - end - PREFIX)
  return buffer.subarray(length > 0 ? 0 : end, last)
}

function putDataFields(buffer: Buffer, start: number, file: number): number {
  buffer[start] = PACKET_TYPE
  buffer[start + 1] = DATA
  buffer[start + 2] = PACKET_ID
  return putLongVarint(buffer, start + 3, file)
}

/** Writes a 32-bit varint padded to its maximum length, and returns the position after it. */
function putLongVarint(buffer: Buffer, start: number, value: number): number {
  let rest = value
  for (let at = start; at < start + NUMBER - 1; at++) {
    buffer[at] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  buffer[start + NUMBER - 1] = rest
  return start + NUMBER
}

/** Writes a signed 64-bit varint, and returns the position after it. A time before 1970 is a negative value. */
function putVarint64(buffer: Buffer, start: number, value: bigint): number {
  let at = start
  let low = Number(BigInt.asUintN(49, value))
  let high = Number(BigInt.asUintN(64, value) >> 49n)
  while (high > 0 || low > 0x7f) {
    buffer[at++] = (low % 0x80) | 0x80
    low = Math.floor(low / 0x80) + (high % 0x80) * 2 ** 42
    high = Math.floor(high / 0x80)
  }
  buffer[at++] = low
  return at
}
