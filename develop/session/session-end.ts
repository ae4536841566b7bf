import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const fileIn = (folder: string): string => join(folder, 'ended')

/**
 * Stores the reason why a session has failed in its folder, for commands that find no running session. A full disk is
 * ignored.
 */
export function writeFailure(folder: string, reason: string): void {
  try {
    writeFileSync(fileIn(folder), `${new Date().toISOString()}: ${reason}\n`, { mode: 0o600 })
  } catch {
    // Best effort: the log may contain the reason.
  }
}

/** Returns the time and reason of the last session's failure; undefined if it did not fail. */
export function readFailure(folder: string): string | undefined {
  try {
    return readFileSync(fileIn(folder), 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Deletes the stored failure, because another session has started or the original was restored. */
export const forgetFailure = (folder: string): void => rmSync(fileIn(folder), { force: true })
