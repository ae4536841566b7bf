import type { TreeNode } from './tree-node.ts'

/**
 * Paths to check: small source files first, then other small files, then large files. Paths that were deleted on one
 * side come last, because other files may be copied from them.
 */
export class WorkQueue {
  readonly #classes: readonly Set<TreeNode>[] = [new Set(), new Set(), new Set(), new Set()]
  /**
   * Iterators over `#classes`, one for each set, kept between calls of `take`. A new iterator would first have to pass
   * all entries that were already deleted from its set.
   */
  readonly #next: (Iterator<TreeNode> | undefined)[] = []

  get size(): number {
    return this.#classes.reduce((sum, nodes) => sum + nodes.size, 0)
  }

  add(node: TreeNode): void {
    const wanted = this.#classes[classOf(node)]!
    if (wanted.has(node)) return
    this.delete(node)
    wanted.add(node)
  }

  has(node: TreeNode): boolean {
    return this.#classes.some(nodes => nodes.has(node))
  }

  delete(node: TreeNode): void {
    for (const nodes of this.#classes) if (nodes.delete(node)) return
  }

  take(): TreeNode | undefined {
    for (const [at, nodes] of this.#classes.entries()) {
      if (nodes.size === 0) continue
      const node = this.#first(at, nodes)
      nodes.delete(node)
      return node
    }
    return undefined
  }

  #first(at: number, nodes: Set<TreeNode>): TreeNode {
    let found = this.#next[at]?.next()
    if (!found || found.done) {
      this.#next[at] = nodes.values()
      found = this.#next[at].next()
    }
    // The set is not empty, so a value was found.
    return found.value as TreeNode
  }

  *[Symbol.iterator](): Generator<TreeNode> {
    for (const nodes of this.#classes) yield* nodes
  }
}

const SOURCE = 64 << 10
const BINARY = /\.(?:png|jpe?g|gif|webp|ico|pdf|zip|gz|tgz|jar|so|dylib|dll|exe|wasm|woff2?|ttf|mp[34]|sqlite3?|db)$/i

function classOf(node: TreeNode): number {
  if (node.base && (!node.local || !node.remote)) return 3
  const size = Math.max(node.local?.size ?? 0, node.remote?.size ?? 0)
  if (size > 1 << 20) return 2
  return size <= SOURCE && !BINARY.test(node.name) ? 0 : 1
}
