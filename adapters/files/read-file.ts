import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { reasonOf } from '../../compiler/diagnostics/system-error.ts'
import type { FileContent } from '../../compiler/host.ts'

/** The largest file that is read into memory, regardless of other limits. */
const MOST = 1 << 30

/**
 * The bytes of a file, or why there are none. Pipes are read to their end (`-f <(generate)`), and their
 * bytes are kept for the next call: they come only once. Devices are not read, because they may not
 * end. `path` is absolute.
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
    // The empty device does end, and is in use: `-f /dev/null`.
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
 * Opens a file for reading. Opening a pipe would otherwise block until a writer appears. Throws the error of node:fs.
 */
export function openWithoutWaiting(path: string): number {
  // Windows has no such flag, and no such pipes.
  return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
}

// Errors of node:fs have a code.
const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/**
 * Milliseconds to wait for writers of pipes, for all pipes together; a writer that has opened its pipe may take longer.
 */
let timeLeft = 2000
const PAUSE = 10
/** Largest content of a pipe in bytes: more than any file that a command generates on the fly. */
const MOST_OF_PIPE = 64 << 20

/** The pipes that were read, by path and inode. */
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
      // The compiler is synchronous, and so is its host.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE)
      if (piece) timeLeft -= PAUSE
    }
  }
}

/** The bytes that a pipe holds now: empty at its end, undefined while its writer writes nothing. */
function readPiece(file: number): Buffer | undefined {
  const piece = Buffer.allocUnsafe(1 << 16)
  try {
    return piece.subarray(0, readSync(file, piece))
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return undefined
    throw error
  }
}
