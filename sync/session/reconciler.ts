import { isFolder, isUntouched } from '../core/entry.ts'
import { type Decision, merge, onlyFromLaptop } from '../core/merge.ts'
import { pathProblem } from '../core/paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import type { ChangingRules } from '../scan/changing-rules.ts'
import type { OnlyHere } from '../stage/only-here.ts'
import type { FolderState } from './folder-state.ts'

/** Decides what happens to a path, from the state of both sides and of the paths above and below it. */
export class Reconciler {
  readonly #state: FolderState
  readonly #rules: ChangingRules
  readonly #onlyHere: OnlyHere
  /**
   * Paths at which the laptop wins because it has changed something below the path, although the path itself was only
   * changed in the container.
   */
  readonly #insisting = new Set<TreeNode>()

  constructor(state: FolderState, rules: ChangingRules, onlyHere: OnlyHere) {
    this.#state = state
    this.#rules = rules
    this.#onlyHere = onlyHere
  }

  /** Returns the decision for a path; undefined if the path waits for a path above it. */
  decide(node: TreeNode): Decision | undefined {
    const { sent, world } = this.#state
    if (sent.has(node) && this.#isUnknown(node)) return { do: 'hash', local: false, remote: true }
    const blocker = node.local || !node.remote ? undefined : fileAbove(node)
    if (blocker) {
      const above = this.#merge(blocker, false).do
      if (above === 'nothing' && world.direction === 'up') return { do: 'nothing' }
      if (this.#state.busy.has(blocker) || above === 'fetch' || above === 'hash') {
        this.#state.block(blocker, node)
        if (!this.#state.busy.has(blocker) && !this.#state.isWaiting(blocker)) this.#state.mark(blocker)
        return undefined
      }
    }
    const merged = this.#merge(node, blocker !== undefined)
    // Files that the ignore file includes determine which paths are ignored, so only this machine may change them.
    const decision =
      this.#rules.includes.size > 0 && this.#rules.includes.has(node.path) ? onlyFromLaptop(merged, node) : merged
    const changesLaptop = CHANGES_LAPTOP.has(decision.do)
    if (changesLaptop && pathProblem(node.path, world.rules)) return { do: 'nothing' }
    const problem = changesLaptop ? this.#onlyHere.problem(node) : undefined
    this.#state.leaveThere(node, problem)
    if (problem) return { do: 'nothing' }
    if (!this.#insisting.has(node) || decision.do !== 'fetch') return decision
    const { base, remote } = node
    return { do: 'send', keep: !isFolder(remote) && !remote!.isOfImage && !isUntouched(base?.remote, remote) }
  }

  /** Makes the laptop win at this path until the path is finished. */
  insist(node: TreeNode): void {
    this.#insisting.add(node)
  }

  /** Removes the record of a finished path. */
  forget(node: TreeNode): void {
    this.#insisting.delete(node)
  }

  /**
   * Checks if a sent entry has arrived in the container. If so, the entry becomes the base. Returns true if the
   * contents in the container must be hashed before this can be determined.
   */
  #isUnknown(node: TreeNode): boolean {
    const { remote } = node
    const sent = this.#state.sent.get(node)!
    if (remote?.kind === 'file' && remote.size === sent.size && remote.size > 0 && !remote.hash) return true
    this.#state.sent.delete(node)
    if (remote?.kind === sent.kind && remote.hash === sent.hash && remote.target === sent.target)
      this.#state.setBase(node, { local: sent, remote })
    return false
  }

  #merge({ base, local, remote }: TreeNode, isBelowFile: boolean): Decision {
    return merge({ base, local, remote, isBelowFile, direction: this.#state.world.direction })
  }
}

/** Decisions that apply a change of the container to the laptop. */
const CHANGES_LAPTOP: ReadonlySet<Decision['do']> = new Set(['fetch', 'fetch-meta', 'remove-local'])

/** Returns the closest existing node above a path on the laptop, if it is not a folder. */
function fileAbove(node: TreeNode): TreeNode | undefined {
  for (let above = node.parent; above?.parent; above = above.parent)
    if (above.local) return isFolder(above.local) ? undefined : above
  return undefined
}
