import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Size in bytes at which a new log is started; the previous log is kept next to it. */
const LARGEST = 5_000_000

/** Log of `up` in the folder of a session, with one line per event and its time. */
export class SessionLog {
  readonly path: string
  readonly #mask: (text: string) => string

  /** Opens the log. `mask` removes secrets from a text. */
  constructor(folder: string, mask: (text: string) => string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.path = join(folder, 'up.log')
    this.#mask = mask
  }

  /** Writes a line. A full disk does not end the session. */
  write(text: string): void {
    try {
      if ((statSync(this.path, { throwIfNoEntry: false })?.size ?? 0) > LARGEST) renameSync(this.path, `${this.path}.1`)
      appendFileSync(this.path, `${new Date().toISOString()} ${this.#mask(text)}\n`, { mode: 0o600 })
    } catch {
      // The session is more important than its log.
    }
  }
}
