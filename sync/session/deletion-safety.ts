import { copyEntry } from '../core/entry.ts'
import type { Deletions } from './deletions.ts'
import type { FolderState, LostFiles } from './folder-state.ts'

/** Time without a change after which the files of a folder count as restored, in milliseconds. */
const FILLED = 500

/**
 * Stops synchronizing a folder if one side has lost all files, or a large part of them. Nothing happens until the user
 * confirms that the loss was intended, or the files are restored.
 */
export class DeletionSafety {
  readonly #state: FolderState
  readonly #deletions: Deletions
  #stopped: 'local' | 'remote' | undefined
  /** True if the user has confirmed that the loss was intended. */
  #mayBeEmpty = false

  constructor(state: FolderState, deletions: Deletions) {
    this.#state = state
    this.#deletions = deletions
    deletions.onLoss = loss => this.stop('remote', loss)
  }

  /** Side that has lost files, while the folder is stopped. */
  get stopped(): 'local' | 'remote' | undefined {
    return this.#stopped
  }

  get mayBeEmpty(): boolean {
    return this.#mayBeEmpty
  }

  /** Returns true if the laptop has lost all files, and the user has not confirmed that this was intended. */
  isEmptied(): boolean {
    if (this.#mayBeEmpty) return false
    const { tree, agreedFiles } = this.#state
    let agreedOn = 0
    for (const { base, local } of tree.children?.values() ?? []) {
      if (base?.local && base.remote) agreedOn++
      if (local && tree.local) return false
    }
    return agreedOn >= 1 && (!tree.local || agreedOn >= 2 || agreedFiles >= 2)
  }

  /**
   * Stops synchronizing the folder, and reports this with `side`, which has lost files. `loss` counts the files that
   * the container has deleted. If it is absent, all files are missing.
   */
  stop(side: 'local' | 'remote', loss?: LostFiles): void {
    if (this.#stopped) return
    this.#stopped = side
    const { world, name } = this.#state
    world.report({ kind: 'stopped', folder: name, side, ...(loss && { loss }) })
    this.#state.endSettling()
  }

  /** Resumes with the user's answer: the loss was intended (`delete`), or the files must be restored (`restore`). */
  answer(meaning: 'delete' | 'restore'): void {
    const side = this.#stopped
    if (!side) return
    this.#stopped = undefined
    this.#mayBeEmpty = meaning === 'delete'
    this.#deletions.forget()
    if (meaning === 'delete') this.#deletions.release()
    else {
      this.#deletions.drop()
      this.#restore(side)
    }
    this.#continued(side)
    this.#state.world.rested()
  }

  /** Restores the files that `side` has lost with the versions of the other side. */
  #restore(side: 'local' | 'remote'): void {
    const { tree } = this.#state
    for (const node of [...tree.walk()]) {
      if (node.base && !node[side]) this.#state.setBase(node, undefined)
      // Files that came from the image are restored to the laptop, too, because it has lost them.
      if (side === 'local' && node.remote?.isOfImage && !node.local)
        node.remote = copyEntry(node.remote, { isOfImage: false })
      if (node.parent) this.#state.mark(node)
    }
  }

  continueIfFilled(): void {
    const side = this.#stopped
    if (!side || (side === 'local' ? this.isEmptied() || this.#isFilling() : this.#deletions.loss())) return
    this.#stopped = undefined
    this.#deletions.release()
    this.#continued(side)
  }

  /**
   * Revokes the permission to delete everything after all intended deletions are done: later deletions would be a new
   * loss.
   */
  rest(): void {
    this.#mayBeEmpty = false
  }

  /** Returns true while files are reappearing: files that are still missing would count as deleted. */
  #isFilling(): boolean {
    const { live, world } = this.#state
    if (live.still >= FILLED) return false
    world.clock.after(FILLED, () => world.rested())
    return true
  }

  #continued(side: 'local' | 'remote'): void {
    const { world, name } = this.#state
    world.report({ kind: 'continued', folder: name, side })
  }
}
