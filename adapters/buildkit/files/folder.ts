import { closeSync, openSync, read, readSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type FileSelection, pathFilter } from './filter.ts'
import type { SyncedFile } from './stat.ts'
import { walk } from './walk.ts'

/** Files that a builder may ask for. */
export interface SyncedFolder {
  /** Those that a selection asks for, in the order in which BuildKit compares them. */
  readonly files: (selection: FileSelection) => Iterable<SyncedFile>
  /** Opens one for reading. A file that is gone meanwhile is empty. Throws what opening it throws. */
  readonly open: (file: FileToSend) => OpenFile
}

/** A file with the size that it had. */
export type FileToSend = Pick<SyncedFile, 'path' | 'size'>

/** A file that is read from its begin to its end. */
export interface OpenFile {
  /** Fills a buffer, and gives how many bytes; fewer than it holds are the last. */
  read(into: Buffer): number | Promise<number>
  close(): void
}

/** Most files are small: calls in the pool of threads take longer than the reading. */
const SMALL = 128 * 1024

/** A folder of this machine. Its files are read when the builder asks for them. */
export const folderAt = (root: string): SyncedFolder => ({
  files: selection => walk(root, selection),
  open: ({ path, size }) => {
    const descriptor = openedOrGone(join(root, path))
    if (descriptor === undefined) return { read: () => 0, close: () => {} }
    return {
      read: into => (size <= SMALL ? readNow(descriptor, into) : readLater(descriptor, into)),
      close: () => closeSync(descriptor),
    }
  },
})

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

/** Files that are on no disk: the text of a Dockerfile. */
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
