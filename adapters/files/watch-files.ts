import { createHash } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readFile } from './read-file.ts'

/** Time without further events after which files count as written, in milliseconds: editors write in several steps. */
const QUIET = 100
/** Interval for reading the files where the system cannot watch their folders, in milliseconds. */
const POLL = 2_000

/** Record of the files that were read: their absolute paths, with hashes of their contents for noticing changes. */
export class ReadFiles {
  readonly #hashes = new Map<string, string | undefined>()

  /**
   * Creates the record. Reads the files of `before` again and adds them. A run that fails early may not have read all
   * of its files, but a change of any of them has to be noticed.
   */
  constructor(before?: ReadFiles) {
    if (before) for (const path of before.#hashes.keys()) this.read(path)
  }

  /** Records the content of a file. */
  add(path: string, bytes: Uint8Array): void {
    this.#hashes.set(path, hashOf(bytes))
  }

  /** Records that a file does not exist. */
  addMissing(path: string): void {
    this.#hashes.set(path, undefined)
  }

  /** Reads a file, and records its content, or that it does not exist. */
  read(path: string): void {
    this.#hashes.set(path, currentHash(path))
  }

  /** Returns the path of the first file whose content has changed since it was read; undefined if none has changed. */
  changed(): string | undefined {
    return [...this.#hashes].find(([path, hash]) => currentHash(path) !== hash)?.[0]
  }

  /**
   * Waits until a recorded file changes, or until a file whose name `isInput` accepts appears in the folder of a
   * recorded file. Returns the path of the file. Rejects with the signal's abort reason.
   */
  async nextChange(isInput: (name: string) => boolean, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const paths = new Set(this.#hashes.keys())
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      let appeared: string | undefined
      const look = () => {
        const path = appeared ?? this.changed()
        if (path !== undefined) end(() => resolve(path))
      }
      const soon = () => {
        clearTimeout(timer)
        timer = setTimeout(look, QUIET)
      }
      const heard = (folder: string, name: string | null) => {
        const path = name === null ? undefined : join(folder, name)
        if (path !== undefined && !paths.has(path) && isInput(name!)) appeared = path
        if (path === undefined || paths.has(path) || appeared !== undefined) soon()
      }
      const watchers = [...new Set([...paths].map(path => dirname(path)))].flatMap(folder => open(folder, heard))
      const poll = setInterval(look, POLL)
      const aborted = () => end(() => reject(signal.reason))
      const end = (settle: () => void) => {
        for (const watcher of watchers) watcher.close()
        clearTimeout(timer)
        clearInterval(poll)
        signal.removeEventListener('abort', aborted)
        settle()
      }
      signal.addEventListener('abort', aborted)
      // A file may have changed since it was read.
      soon()
    })
  }
}

/** Watches a folder. A folder that cannot be watched, or no longer exists, is only polled. */
function open(folder: string, heard: (folder: string, name: string | null) => void): readonly FSWatcher[] {
  try {
    const watcher = watch(folder, (_, name) => heard(folder, name === null ? null : basename(name)))
    watcher.on('error', () => watcher.close())
    return [watcher]
  } catch {
    return []
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

function currentHash(path: string): string | undefined {
  const content = readFile(path)
  return content.kind === 'file' ? hashOf(content.bytes) : undefined
}
