import { fstatSync } from 'node:fs'
import type { Readable } from 'node:stream'

/** Returns standard input if it can have content: a terminal, a pipe, a file or a socket, and not `/dev/null`. */
export function standardInput(): Readable | undefined {
  if (process.stdin.isTTY) return process.stdin
  try {
    const found = fstatSync(0)
    return found.isFIFO() || found.isFile() || found.isSocket() ? process.stdin : undefined
  } catch {
    // It is closed.
    return undefined
  }
}
