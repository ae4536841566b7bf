import { decodeEntry, type FileEntry, isFolder, isUntouched } from '../core/entry.ts'
import { pathProblem, refusedPart } from '../core/paths.ts'
import { readSkippedPaths, SkippedPaths } from '../core/skipped-paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import type { ChangingRules } from '../scan/changing-rules.ts'
import type { Deletions } from './deletions.ts'
import type { FolderState } from './folder-state.ts'

/** Number of paths that the agent skips, and the first of these paths with the reasons. */
interface LeftOutThere {
  readonly count: number
  readonly paths: readonly (readonly [string, string])[]
}

/**
 * Keeps the `remote` side of a tree up to date with the agent's reports. The agent may be hostile: paths that must not
 * exist on this machine are skipped.
 */
export class RemoteTree {
  readonly #state: FolderState
  readonly #rules: ChangingRules
  readonly #deletions: Deletions
  /** Paths of the container that must not exist on this machine. */
  readonly #refused = new SkippedPaths()
  /** Paths that the agent skips. */
  #leftOut: LeftOutThere = { count: 0, paths: [] }

  constructor(state: FolderState, rules: ChangingRules, deletions: Deletions) {
    this.#state = state
    this.#rules = rules
    this.#deletions = deletions
  }

  /** Starts a snapshot, in which the agent reports the full state of the container. */
  beginSnapshot(): void {
    for (const node of [...this.#state.tree.walk()]) node.remote = undefined
    this.#state.hasRemote = false
  }

  /** Handles paths that the agent could not read: neither these paths nor the paths below them count as deleted. */
  setUnreadable(paths: readonly string[]): void {
    for (const path of paths)
      for (const node of this.#state.tree.find(path)?.walk() ?? []) node.remote ??= node.base?.remote
  }

  endSnapshot(): void {
    this.#state.hasRemote = true
    for (const node of this.#state.tree.walk()) {
      const { base, local, remote } = node
      const isSettled = base && isUntouched(base.local, local) && isUntouched(base.remote, remote)
      if (node.parent && !isSettled) this.#state.mark(node)
      if (base && isSettled) takeFromBase(node)
    }
  }

  /**
   * Sets the entries that the agent has reported. Paths that must not exist on this machine are refused and reported.
   */
  set(entries: readonly unknown[], isSnapshot: boolean): void {
    for (const value of entries) {
      const [path, wire] = value as readonly [unknown, unknown]
      if (typeof path !== 'string') throw new Error('a path is not a text')
      const entry = decodeEntry(wire)
      const problem = pathProblem(path, this.#state.world.rules)
      if (problem) this.#refuse(path, entry, problem)
      else if (!this.#rules.leavesOut(path, isFolder(entry))) this.#set(path, entry, isSnapshot)
    }
  }

  /**
   * Refuses a path. The problem is reported once for a folder such as `.git`, not for each path in it. A path that both
   * sides have agreed on is not refused while the container leaves it unchanged: it came from this machine.
   */
  #refuse(whole: string, entry: FileEntry | undefined, message: string): void {
    const { tree, world } = this.#state
    const node = tree.find(whole)
    if (node?.base?.remote && isUntouched(node.base.remote, entry)) {
      node.remote = entry
      return
    }
    const path = refusedPart(whole, world.rules)
    if (!entry) {
      if (path === whole) this.#refused.delete(path)
      return
    }
    this.#state.tellLeftOut(this.#refused, path, message)
  }

  #set(path: string, entry: FileEntry | undefined, isSnapshot: boolean): void {
    const { tree } = this.#state
    const node = entry ? tree.at(path) : tree.find(path)
    if (!node) return
    if (!isFolder(entry) && node.children)
      for (const below of node.walk())
        if (below !== node && below.remote) {
          below.remote = undefined
          this.#state.mark(below)
        }
    if (!isUntouched(node.remote, entry)) node.remote = entry
    if (entry) {
      this.#deletions.wait()
      this.#deletions.letGo(node)
    }
    if (!isSnapshot) this.#state.mark(node)
  }

  /** Sets the paths that the agent skips. */
  setLeftOut(count: number, paths: readonly unknown[]): void {
    this.#leftOut = { count, paths: readSkippedPaths(paths) }
  }

  /** Paths in the container that cannot be synchronized regardless of the settings. */
  get leftOut(): LeftOutThere {
    const there = this.#leftOut
    const { leftThere } = this.#state
    return {
      count: there.count + this.#refused.count + leftThere.count,
      paths: [...there.paths, ...this.#refused.first(), ...leftThere.first()],
    }
  }

  /** Forgets the refused paths, because everything will be reported again. */
  forgetRefused(): void {
    this.#refused.forgetBelow('')
    this.#state.leftThere.forgetBelow('')
  }
}

/**
 * Replaces the entries of a node with the entries of its base, which contain the hashes. Keeps the container's entry if
 * the file is unchanged from the image.
 */
function takeFromBase(node: TreeNode): void {
  if (node.base?.local) node.local = node.base.local
  if (node.base?.remote && !node.remote?.isOfImage) node.remote = node.base.remote
}
