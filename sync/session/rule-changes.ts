import type { SyncClock } from '../core/clock.ts'
import type { IgnoreSource } from '../scan/ignore-source.ts'
import type { FolderSync } from './folder-sync.ts'

/** Debounce time before ignore files are read again, in milliseconds. */
const REREAD = 20

/** Handles changed ignore rules: reads them again, and applies them as soon as nothing is in flight. */
export class RuleChanges {
  readonly #clock: SyncClock
  readonly #folders: readonly FolderSync[]
  readonly #read: () => void
  /** New ignore rules of folders, which are applied once nothing is in flight. */
  readonly #changing = new Map<FolderSync, IgnoreSource>()
  #cancel: (() => void) | undefined

  /** `read` is called after the rules have been read again. */
  constructor(clock: SyncClock, folders: readonly FolderSync[], read: () => void) {
    this.#clock = clock
    this.#folders = folders
    this.#read = read
  }

  /** True if the rules may be about to change. */
  get isWaiting(): boolean {
    return this.#changing.size > 0 || this.#cancel !== undefined
  }

  /** Reads the rules again after a delay, because one of their files may have changed. */
  expect(): void {
    this.#cancel?.()
    this.#cancel = this.#clock.after(REREAD, () => {
      this.#cancel = undefined
      for (const folder of this.#folders) {
        const source = folder.newIgnores()
        if (source) this.#changing.set(folder, source)
        else this.#changing.delete(folder)
      }
      this.#read()
    })
  }

  /** Applies the changed rules if nothing is in flight. Returns true if new rules apply from now on. */
  apply(): boolean {
    if (this.#changing.size === 0 || !this.#folders.every(folder => folder.isStill)) return false
    for (const [folder, source] of this.#changing) folder.setIgnores(source)
    this.#changing.clear()
    return true
  }

  close(): void {
    this.#cancel?.()
  }
}
