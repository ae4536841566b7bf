import type { FolderSync } from '../session/folder-sync.ts'
import type { SyncLink } from './link.ts'

export interface Attached {
  /**
   * Resolves when nothing is left to do in either direction, and the application may start. Rejects if the connection
   * ends first.
   */
  readonly synced: Promise<void>
  /** Resolves with the reason when the connection ends. */
  readonly ended: Promise<Error>
  /**
   * Resolves when all changes so far on both sides have been handled. Rejects if the connection ends first, or if a
   * folder waits for an answer to a question.
   */
  settled(): Promise<void>
  close(): void
}

/** Implements `Attached` for one connection to the agent. */
export class Attachment implements Attached {
  link!: SyncLink
  isOpening = false
  readonly synced: Promise<void>
  readonly ended: Promise<Error>
  resolve!: () => void
  #reject!: (error: Error) => void
  #end!: (error: Error) => void
  readonly #folders: readonly FolderSync[]
  readonly #work: () => void

  constructor(folders: readonly FolderSync[], work: () => void) {
    this.#folders = folders
    this.#work = work
    this.synced = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.#reject = reject
    })
    this.ended = new Promise(resolve => {
      this.#end = resolve
    })
    // A caller that only waits for `ended` need not handle this rejection.
    this.synced.catch(() => {})
  }

  async settled(): Promise<void> {
    const done = this.synced.then(async () => {
      // The agent reports its changes before it answers.
      await this.link.request('settle', {})
      await Promise.all(this.#folders.map(folder => folder.settled(this.#work)))
    })
    await Promise.race([done, this.ended.then(error => Promise.reject(error))])
  }

  close(): void {
    this.link.end(new Error('the connection was closed'))
  }

  end(error: Error): void {
    this.#reject(error)
    this.#end(error)
  }
}
