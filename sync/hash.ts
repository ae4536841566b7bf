import { createHash, hash } from 'node:crypto'
import type { Disk } from './disk.ts'

/** SHA-256 in base64. */
export const hashOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64')

const PIECE = 1 << 20

/** Hashes an open file piece by piece; the caller lets others have a turn in between. */
export function* hashPieces(disk: Disk, file: number): Generator<number, string> {
  const sum = createHash('sha256')
  const buffer = Buffer.allocUnsafe(PIECE)
  let position = 0
  for (;;) {
    const size = disk.read(file, buffer, position)
    if (size === 0) return sum.digest('base64')
    sum.update(buffer.subarray(0, size))
    position += size
    yield position
  }
}
