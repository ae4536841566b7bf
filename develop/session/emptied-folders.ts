import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { SyncEngine, SyncEvent } from '../../sync/session/sync.ts'
import type { DevelopContext } from '../context.ts'
import type { EmptiedFolder } from '../control/messages.ts'
import { type LocalFolder, toPair } from '../files/sync-folders.ts'

/** Answer for a folder that has lost files on one side. */
export type EmptiedAnswer = 'delete' | 'restore'

/**
 * Folders of a session whose synchronization has stopped because all or many of their files are missing on one side.
 * Asks the user at the terminal, or waits for a command that answers.
 */
export class EmptiedFolders {
  readonly #dev: string
  readonly #folders: readonly LocalFolder[]
  readonly #world: Pick<DevelopContext, 'on' | 'ask'>
  readonly #stopped = new Map<string, { readonly emptied: EmptiedFolder; readonly asked: AbortController }>()

  constructor(dev: string, folders: readonly LocalFolder[], world: Pick<DevelopContext, 'on' | 'ask'>) {
    this.#dev = dev
    this.#folders = folders
    this.#world = world
  }

  /** Returns the folders that wait for an answer. */
  get all(): readonly EmptiedFolder[] {
    return [...this.#stopped.values()].map(({ emptied }) => emptied)
  }

  /**
   * Handles a synchronization event. Asks the user if the synchronization of a folder has stopped, and withdraws the
   * question if the synchronization continues.
   */
  hear(event: SyncEvent, answer: SyncEngine['answer']): void {
    if (event.kind !== 'stopped' && event.kind !== 'continued') return
    const folder = this.#folders.find(({ name }) => name === event.folder)
    if (!folder) return
    if (event.kind === 'continued') {
      this.#stopped.get(event.folder)?.asked.abort()
      this.#stopped.delete(event.folder)
      this.#world.on({ type: 'sync-continued', dev: this.#dev, folder: toPair(folder) })
      return
    }
    const { side, loss } = event
    const emptied = { ...toPair(folder), side, ...(loss && { loss }) }
    const asked = new AbortController()
    this.#stopped.set(event.folder, { emptied, asked })
    void this.#ask(event.folder, emptied, asked.signal, answer)
  }

  /** Answers for all waiting folders and returns them. Throws a UserError if there are none. */
  answer(meaning: EmptiedAnswer, tell: SyncEngine['answer']): readonly EmptiedFolder[] {
    const { all } = this
    if (all.length === 0) throw noneWaits([this.#dev])
    for (const name of [...this.#stopped.keys()]) tell(name, meaning)
    return all
  }

  async #ask(name: string, emptied: EmptiedFolder, signal: AbortSignal, answer: SyncEngine['answer']): Promise<void> {
    const { on, ask } = this.#world
    const meaning = await ask?.whatOfEmptied?.(emptied, signal)
    // The files may have been restored in the meantime, or another command may have answered.
    if (signal.aborted) return
    if (meaning) answer(name, meaning)
    else on({ type: 'sync-stopped', dev: this.#dev, ...toEvent(emptied) })
  }
}

const toEvent = ({ local, remote, ...lost }: EmptiedFolder) => ({ folder: { local, remote }, ...lost })

/** Returns the error for an answer that no folder of the given development containers waits for. */
export const noneWaits = (devs: readonly string[]): UserError =>
  new UserError(`no folder of ${devs.map(dev => `\`${dev}\``).join(', ')} waits for an answer`, {
    hint: 'a folder does if all of its files are gone on one side; `devctl status` names it',
  })
