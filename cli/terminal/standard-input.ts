import { fstatSync } from 'node:fs'
import type { Readable } from 'node:stream'

/**
 * Returns standard input if it can have content, because it is a terminal, a pipe, a file or a socket; undefined
 * otherwise, for example for `/dev/null`.
 */
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
