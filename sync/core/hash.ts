import { createHash, hash } from 'node:crypto'
import type { Disk } from '../stage/disk.ts'
import { type SyncClock, turn } from './clock.ts'
import { copyEntry, type FileEntry, isUntouched } from './entry.ts'

/** Returns the SHA-256 of the bytes, in base64. */
export const hashOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64')

const PIECE = 1 << 20

/**
 * Hashes an open file piece by piece, and returns the hash. Yields the number of bytes read after each piece, so that
 * the caller can do other work.
 */
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

/**
 * Hashes a file, yielding to other work if the file is large. Returns undefined if the file changes while it is hashed.
 * Throws the errors of the disk.
 */
export async function hashAtRest(disk: Disk, clock: SyncClock, place: string): Promise<FileEntry | undefined> {
  const file = disk.open(place, 'read')
  try {
    const before = disk.opened(file)
    if (!before) return undefined
    const pieces = hashPieces(disk, file)
    let piece = pieces.next()
    for (; !piece.done; piece = pieces.next()) if (piece.value > PIECE) await turn(clock)
    return isUntouched(before, disk.opened(file)) ? copyEntry(before, { hash: piece.value }) : undefined
  } finally {
    disk.close(file)
  }
}
