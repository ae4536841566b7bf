import { closeSync, fstatSync, openSync, read, readSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ChangeFinder, FileChanged } from './changed.ts'
import { type FileSelection, pathFilter } from './filter.ts'
import type { SyncedFile } from './stat.ts'
import { walk } from './walk.ts'

/** A folder whose files a builder may request. */
export interface SyncedFolder {
  /**
   * Yields the selected files, in the order in which BuildKit compares them. Throws a `FileChanged` for a file that has
   * changed.
   */
  readonly files: (selection: FileSelection) => Iterable<SyncedFile>
  /** Opens a file for reading. Throws the file system's error, and a `FileChanged` if the file was deleted. */
  readonly open: (file: FileToSend) => OpenFile
}

/** A file with the size and time that were sent to the builder. */
export type FileToSend = Pick<SyncedFile, 'path' | 'size' | 'modTime'>

/** A file that is read from start to end. */
export interface OpenFile {
  /**
   * Fills a buffer with the next bytes of the file and returns their number; a number less than the size of the buffer
   * means the end of the file. Throws a `FileChanged` if the file no longer has the announced size or modification
   * time.
   */
  read(into: Buffer): number | Promise<number>
  close(): void
}

/**
 * Size limit for synchronous reads, in bytes. Most files are small, and a call in the thread pool takes longer than
 * reading them.
 */
const SMALL = 128 * 1024

/**
 * Returns access to a folder of this machine. Each file is read when the builder requests it, and must then still have
 * the announced size and modification time. `isChanged` reports files that have changed before they are announced.
 */
export const folderAt = (root: string, isChanged?: ChangeFinder): SyncedFolder => ({
  files: selection => walk(root, selection, isChanged),
  open: file => {
    const descriptor = openedOrGone(join(root, file.path))
    if (descriptor === undefined) throw new FileChanged(file.path)
    let sent = 0
    const checked = (length: number, into: Buffer) => {
      sent += length
      if (sent > file.size || (length < into.length && !isWhole(descriptor, file, sent)))
        throw new FileChanged(file.path)
      return length
    }
    return {
      read: into =>
        file.size <= SMALL
          ? checked(readNow(descriptor, into), into)
          : readLater(descriptor, into).then(length => checked(length, into)),
      close: () => closeSync(descriptor),
    }
  },
})

const isWhole = (descriptor: number, { size, modTime }: FileToSend, sent: number): boolean =>
  sent === size && fstatSync(descriptor, { bigint: true }).mtimeNs === modTime

function openedOrGone(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

function readNow(descriptor: number, into: Buffer): number {
  let length = 0
  while (length < into.length) {
    const bytes = readSync(descriptor, into, length, into.length - length, null)
    if (bytes === 0) break
    length += bytes
  }
  return length
}

const readSome = promisify(read)

async function readLater(descriptor: number, into: Buffer): Promise<number> {
  let length = 0
  while (length < into.length) {
    const { bytesRead } = await readSome(descriptor, into, length, into.length - length, null)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return length
}

/** Returns access to files that exist only in memory, such as the text of a Dockerfile. */
export function folderInMemory(texts: ReadonlyMap<string, string>): SyncedFolder {
  const contents = new Map([...texts].map(([path, text]) => [path, Buffer.from(text)] as const))
  return {
    files: function* ({ include, exclude, followPaths }) {
      const asked = [...(include ?? []), ...(followPaths ?? [])]
      const { takes } = pathFilter({ ...(asked.length > 0 && { include: asked }), ...(exclude && { exclude }) })
      for (const [path, content] of contents)
        if (takes(path)) yield { path, mode: 0o644, size: content.length, modTime: 0n, linkname: '' }
    },
    open: ({ path }) => {
      let rest = contents.get(path) ?? Buffer.alloc(0)
      return {
        read: into => {
          const length = rest.copy(into)
          rest = rest.subarray(length)
          return length
        },
        close: () => {},
      }
    },
  }
}
