import { copyEntry } from '../core/entry.ts'
import type { Deletions } from './deletions.ts'
import type { FolderState, LostFiles } from './folder-state.ts'

/** Milliseconds without a change after which the files of a folder are taken to be back. */
const FILLED = 500

/**
 * Stops a folder of which one side has lost everything, or much of it: nothing is done until somebody says whether that
 * was meant, or the files are back.
 */
export class DeletionSafety {
  readonly #state: FolderState
  readonly #deletions: Deletions
  #stopped: 'local' | 'remote' | undefined
  /** Somebody has said that it was meant. */
  #mayBeEmpty = false

  constructor(state: FolderState, deletions: Deletions) {
    this.#state = state
    this.#deletions = deletions
    deletions.onLoss = loss => this.stop('remote', loss)
  }

  /** The side that has lost files, while nothing is done. */
  get stopped(): 'local' | 'remote' | undefined {
    return this.#stopped
  }

  get mayBeEmpty(): boolean {
    return this.#mayBeEmpty
  }

  /** The laptop has lost everything, and nobody has said that it was meant. */
  isEmptied(): boolean {
    if (this.#mayBeEmpty) return false
    const { tree } = this.#state
    let agreedOn = 0
    for (const { base, local } of tree.children?.values() ?? []) {
      if (base?.local && base.remote) agreedOn++
      if (local && tree.local) return false
    }
    return agreedOn >= (tree.local ? 2 : 1)
  }

  /** `loss`: what the container has deleted; absent: everything is gone. */
  stop(side: 'local' | 'remote', loss?: LostFiles): void {
    if (this.#stopped) return
    this.#stopped = side
    const { world, name } = this.#state
    world.report({ kind: 'stopped', folder: name, side, ...(loss && { loss }) })
  }

  /** Says whether it was meant that one side has lost everything. */
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

  /** What that side has lost is brought back from the other one. */
  #restore(side: 'local' | 'remote'): void {
    const { tree } = this.#state
    for (const node of [...tree.walk()]) {
      if (node.base && !node[side]) this.#state.setBase(node, undefined)
      // What came from the image is wanted, too: this side has lost it.
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

  /** All that was meant has been done: whatever goes from now on is another loss. */
  rest(): void {
    this.#mayBeEmpty = false
  }

  /** Files that are not back yet would count as deleted. */
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
