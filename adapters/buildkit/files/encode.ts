import { putVarint } from '../wire.ts'
import type { SyncedFile } from './stat.ts'

/** The numbers of fields with their wire types: https://protobuf.dev/programming-guides/encoding/. */
const PACKET_STAT = (2 << 3) | 2
const PATH = (1 << 3) | 2
const MODE = 2 << 3
const SIZE = 5 << 3
const MOD_TIME = 6 << 3
const LINK_NAME = (7 << 3) | 2
const DEV_MAJOR = 8 << 3
const DEV_MINOR = 9 << 3

/** Everything of a `Stat` but its texts. */
const NUMBERS = 64
/** A character takes three bytes in UTF-8, or four as two. */
const BYTES_OF_CHARACTER = 3

/**
 * Encodes a file as `fsutil.types.Packet`. A context may have a hundred thousand files:
 * the table of messages takes several times as long.
 */
export function encodeStat({ path, mode, size, modTime, linkname, devmajor, devminor }: SyncedFile): Buffer {
  const buffer = Buffer.allocUnsafe(NUMBERS + (path.length + linkname.length) * BYTES_OF_CHARACTER)
  let at = 0
  const text = (tag: number, value: string) => {
    if (value === '') return
    buffer[at++] = tag
    at = putVarint(buffer, at, Buffer.byteLength(value))
    at += buffer.write(value, at)
  }
  const number = (tag: number, value: number | undefined) => {
    if (!value) return
    buffer[at++] = tag
    at = putVarint(buffer, at, value)
  }
  text(PATH, path)
  number(MODE, mode)
  number(SIZE, size)
  buffer[at++] = MOD_TIME
  at = varint64(buffer, at, modTime)
  text(LINK_NAME, linkname)
  number(DEV_MAJOR, devmajor)
  number(DEV_MINOR, devminor)
  const head = Buffer.allocUnsafe(6)
  head[0] = PACKET_STAT
  return Buffer.concat([head.subarray(0, putVarint(head, 1, at)), buffer.subarray(0, at)])
}

/** Writes a number of 64 bits, and gives where the next byte goes. Times before 1970 are negative. */
function varint64(buffer: Buffer, start: number, value: bigint): number {
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
