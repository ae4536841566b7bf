import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Bytes after which the log is begun again; the one before is kept beside it. */
const LARGEST = 5_000_000

/** The log of `up` in the folder of a session: a line for each event, with the time. */
export class SessionLog {
  readonly path: string
  readonly #mask: (text: string) => string

  /** `mask` takes the secrets out of a text. */
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
      // The session matters more than its log.
    }
  }
}
