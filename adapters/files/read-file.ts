import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { reasonOf } from '../../compiler/diagnostics/system-error.ts'
import type { FileContent } from '../../compiler/host.ts'

/** Largest file that is read into memory, in bytes, regardless of other limits. */
const MOST = 1 << 30

/**
 * Returns the bytes of a file, or the reason why it cannot be read. Reads pipes to their end (`-f <(generate)`), and
 * keeps their bytes for the next call, because a pipe can be read only once. Does not read devices, because they may
 * never end; `/dev/null` counts as empty. `path` is absolute.
 */
export function readFile(path: string): FileContent {
  // Node refuses such a path with an exception about its argument.
  if (path.includes('\0')) return { kind: 'missing' }
  let file: number | undefined
  try {
    file = openWithoutWaiting(path)
    const found = fstatSync(file)
    if (found.isDirectory()) return { kind: 'folder' }
    if (found.isFIFO()) return readPipeOnce(`${path} ${found.dev}:${found.ino}`, file)
    // `/dev/null` does end, and is used: `-f /dev/null`.
    if (found.isCharacterDevice() || found.isBlockDevice()) {
      return path === '/dev/null'
        ? { kind: 'file', bytes: new Uint8Array() }
        : { kind: 'unreadable', reason: 'it is a device' }
    }
    if (found.size > MOST) return { kind: 'unreadable', reason: 'it is larger than 1 GiB' }
    const executable = (found.mode & constants.S_IXUSR) !== 0
    return { kind: 'file', bytes: readFileSync(file), ...(executable && { executable }) }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' }
    if (code === 'EISDIR') return { kind: 'folder' }
    return { kind: 'unreadable', reason: reasonOf(error) }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/**
 * Opens a file for reading without blocking: a normal open of a pipe waits until a writer appears. Throws the error of
 * node:fs.
 */
export function openWithoutWaiting(path: string): number {
  // Windows has no such flag and no such pipes.
  return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
}

// Errors of node:fs have a code.
const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/**
 * Remaining time to wait until writers open their pipes, in milliseconds, shared by all pipes. A writer that has opened
 * its pipe may take longer.
 */
let timeLeft = 2000
const PAUSE = 10
/** Maximum size of the content of a pipe in bytes: more than any generated file needs. */
const MOST_OF_PIPE = 64 << 20

/** Contents of the pipes that were read before, by path and inode. */
const pipes = new Map<string, FileContent>()

function readPipeOnce(key: string, file: number): FileContent {
  const known = pipes.get(key)
  if (known) return known
  const content = readPipe(file)
  if (content.kind === 'file') pipes.set(key, content)
  return content
}

function readPipe(file: number): FileContent {
  const pieces: Buffer[] = []
  let length = 0
  for (;;) {
    const piece = readPiece(file)
    length += piece?.length ?? 0
    if (length > MOST_OF_PIPE) return { kind: 'unreadable', reason: 'the pipe does not end' }
    if (piece?.length) pieces.push(piece)
    else if (piece && pieces.length > 0) return { kind: 'file', bytes: Buffer.concat(pieces) }
    else if (piece && timeLeft <= 0) return { kind: 'unreadable', reason: 'it is a pipe that nothing writes to' }
    else {
      // The compiler and its host are synchronous, so this blocks the thread.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE)
      if (piece) timeLeft -= PAUSE
    }
  }
}

/**
 * Returns the bytes available in a pipe: empty at its end or if no program has opened it for writing, undefined if the
 * writer has not written anything yet.
 */
function readPiece(file: number): Buffer | undefined {
  const piece = Buffer.allocUnsafe(1 << 16)
  try {
    return piece.subarray(0, readSync(file, piece))
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return undefined
    throw error
  }
}
