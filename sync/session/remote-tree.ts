import { decodeEntry, type FileEntry, isFolder, isUntouched } from '../core/entry.ts'
import { pathProblem, refusedPart } from '../core/paths.ts'
import { readSkippedPaths, SkippedPaths } from '../core/skipped-paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import type { ChangingRules } from '../scan/changing-rules.ts'
import type { Deletions } from './deletions.ts'
import type { FolderState } from './folder-state.ts'

/** Paths that are left out, with their messages; the first of them. */
interface LeftOutThere {
  readonly count: number
  readonly paths: readonly (readonly [string, string])[]
}

/** Keeps the `remote` side of a tree as the agent says it is. It may be hostile: what cannot be here is left out. */
export class RemoteTree {
  readonly #state: FolderState
  readonly #rules: ChangingRules
  readonly #deletions: Deletions
  /** What the container has, and cannot be on this machine. */
  readonly #refused = new SkippedPaths()
  /** What the agent leaves out. */
  #leftOut: LeftOutThere = { count: 0, paths: [] }

  constructor(state: FolderState, rules: ChangingRules, deletions: Deletions) {
    this.#state = state
    this.#rules = rules
    this.#deletions = deletions
  }

  /** Everything that is in the container follows. */
  beginSnapshot(): void {
    for (const node of [...this.#state.tree.walk()]) node.remote = undefined
    this.#state.hasRemote = false
  }

  /** Below these paths nothing could be read: there, what was agreed on still holds. */
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

  /** What the agent says about some paths. What cannot be here is reported. */
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

  /** A problem is told once of `.git`, not of all that is in it. What came from here stays as it is known. */
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

  /** The agent tells what it leaves out. */
  setLeftOut(count: number, paths: readonly unknown[]): void {
    this.#leftOut = { count, paths: readSkippedPaths(paths) }
  }

  /** What is in the container, and is not synchronized whatever anybody does. */
  get leftOut(): LeftOutThere {
    const there = this.#leftOut
    const { leftThere } = this.#state
    return {
      count: there.count + this.#refused.count + leftThere.count,
      paths: [...there.paths, ...this.#refused.first(), ...leftThere.first()],
    }
  }

  /** Everything will be told again. */
  forgetRefused(): void {
    this.#refused.forgetBelow('')
    this.#state.leftThere.forgetBelow('')
  }
}

/** The hashes come with the base. */
function takeFromBase(node: TreeNode): void {
  if (node.base?.local) node.local = node.base.local
  if (node.base?.remote && !node.remote?.isOfImage) node.remote = node.base.remote
}
