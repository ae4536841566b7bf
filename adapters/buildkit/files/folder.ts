import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type FileSelection, pathFilter } from './filter.ts'
import type { SyncedFile } from './stat.ts'
import { walk } from './walk.ts'

/** Files that a builder may ask for. */
export interface SyncedFolder {
  /** Those that a selection asks for, in the order in which BuildKit compares them. */
  readonly files: (selection: FileSelection) => Iterable<SyncedFile>
  /** The content of one, in pieces. A file that is gone meanwhile is empty. */
  readonly content: (file: FileToSend) => AsyncIterable<Buffer>
}

/** A file with the size that it had. */
export type FileToSend = Pick<SyncedFile, 'path' | 'size'>

const PIECE = 128 * 1024

/** A folder of this machine. Its files are read when the builder asks for them. */
export const folderAt = (root: string): SyncedFolder => ({
  files: selection => walk(root, selection),
  content: async function* ({ path, size }) {
    try {
      // Most files are small: three calls each in the pool of threads take longer than the reading.
      if (size <= PIECE) yield readFileSync(join(root, path))
      else yield* piecesOf(join(root, path))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
    }
  },
})

async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path)
  try {
    for (;;) {
      const buffer = Buffer.allocUnsafe(PIECE)
      const { bytesRead } = await file.read(buffer, 0, PIECE)
      if (bytesRead > 0) yield buffer.subarray(0, bytesRead)
      if (bytesRead < PIECE) return
    }
  } finally {
    await file.close()
  }
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
    content: async function* ({ path }) {
      yield contents.get(path) ?? Buffer.alloc(0)
    },
  }
}
