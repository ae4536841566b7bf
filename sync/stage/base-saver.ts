import type { SyncClock } from '../core/clock.ts'

/** Folder whose base is saved. */
export interface SavedFolder {
  save(): Promise<void>
  /** Size of the folder's journal in bytes. */
  readonly journalSize: number
}

const INTERVAL = 2_000
/** Size of a journal in bytes above which the base is saved immediately. */
const LONG = 16 << 20

/** Saves the agreed state some time after it has changed. Until then, the changes are in the journals. */
export class BaseSaver {
  readonly #clock: SyncClock
  readonly #folders: readonly SavedFolder[]
  #saving: Promise<void> | undefined
  #cancel: (() => void) | undefined
  #isUrgent = false
  #next = 0
  #isClosed = false

  constructor(clock: SyncClock, folders: readonly SavedFolder[]) {
    this.#clock = clock
    this.#folders = folders
  }

  /** Schedules a save after a change. */
  changed(): void {
    if (this.#isClosed) return
    const isUrgent = this.#folders.some(({ journalSize }) => journalSize > LONG)
    if (this.#cancel && (this.#isUrgent || !isUrgent)) return
    this.#cancel?.()
    this.#isUrgent = isUrgent
    const wait = Math.max(INTERVAL, this.#next - this.#clock.now())
    this.#cancel = this.#clock.after(isUrgent ? 0 : wait, () => {
      this.#cancel = undefined
      this.#begin()
    })
  }

  #begin(): void {
    const began = this.#clock.now()
    const before = this.#saving ?? Promise.resolve()
    this.#saving = before
      .then(() => this.#save())
      .then(() => {
        this.#saving = undefined
        const now = this.#clock.now()
        // Writing a large base takes long, so the pause is proportional to the time it took.
        this.#next = now + 20 * (now - began)
      })
  }

  async #save(): Promise<void> {
    for (const folder of this.#folders)
      try {
        await folder.save()
      } catch {
        // The journal contains the changes, and the next change triggers another attempt.
      }
  }

  /** Saves pending changes. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const hasToSave = this.#cancel !== undefined
    this.#cancel?.()
    await this.#saving
    if (hasToSave) await this.#save()
  }
}
