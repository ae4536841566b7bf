import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const fileIn = (folder: string): string => join(folder, 'ended')

/**
 * Remembers in the folder of a session why it has failed, for the commands that find none. A full disk does not matter.
 */
export function writeFailure(folder: string, reason: string): void {
  try {
    writeFileSync(fileIn(folder), `${new Date().toISOString()}: ${reason}\n`, { mode: 0o600 })
  } catch {
    // The log may say it.
  }
}

/** When and why the last session has failed; undefined if it has not. */
export function readFailure(folder: string): string | undefined {
  try {
    return readFileSync(fileIn(folder), 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Deletes the stored failure, since another session has begun, or the original is restored. */
export const forgetFailure = (folder: string): void => rmSync(fileIn(folder), { force: true })
