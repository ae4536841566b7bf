import { copyEntry, type FileEntry, isUntouched } from '../core/entry.ts'
import type { Disk } from '../stage/disk.ts'

/** Contents of a file, and the entry they belong to; or the reason why there are none at the moment. */
export type ReadResult =
  | { readonly kind: 'read'; readonly entry: FileEntry; readonly bytes: Buffer }
  /** No small file any more, or written to while it was read: then with the contents that were read. */
  | { readonly kind: 'moving'; readonly entry?: FileEntry; readonly bytes?: Buffer }

/**
 * Reads a small file as it was at one moment: compares its state before and after. Throws what the file system throws,
 * also if the file is missing.
 */
export function readSmall(disk: Disk, path: string, limit: number): ReadResult {
  const file = disk.open(path, 'read')
  try {
    const before = disk.opened(file)
    if (!before || before.size > limit) return { kind: 'moving' }
    const bytes = Buffer.allocUnsafe(before.size)
    let size = 0
    while (size < bytes.length) {
      const read = disk.read(file, size === 0 ? bytes : bytes.subarray(size), size)
      if (read === 0) break
      size += read
    }
    const after = disk.opened(file)
    if (size !== before.size) return { kind: 'moving' }
    return { kind: isUntouched(before, after) ? 'read' : 'moving', entry: copyEntry(before), bytes }
  } finally {
    disk.close(file)
  }
}
