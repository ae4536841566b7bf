import { copyEntry, type FileEntry, isUntouched } from '../core/entry.ts'
import type { Disk } from '../stage/disk.ts'

/** Contents of a file and the matching entry, or the reason why they are not available at the moment. */
export type ReadResult =
  | { readonly kind: 'read'; readonly entry: FileEntry; readonly bytes: Buffer }
  /**
   * The file is no longer small, or changed while it was read. In the latter case, `bytes` are the contents that were
   * read.
   */
  | { readonly kind: 'moving'; readonly entry?: FileEntry; readonly bytes?: Buffer }

/**
 * Reads a small file in a consistent state: compares its entry before and after. Throws the errors of the file system,
 * including when the file is missing.
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
