import type { Agreed, FileEntry } from './entry.ts'

/**
 * Node for a path in a synchronized folder, with the entries of both sides. The agent only knows one side, which is
 * `local`.
 */
export class TreeNode {
  readonly name: string
  readonly parent: TreeNode | undefined
  children: Map<string, TreeNode> | undefined
  local: FileEntry | undefined
  remote: FileEntry | undefined
  base: Agreed | undefined
  /** True while a request about the node is pending. The node must not be removed before the answer arrives. */
  isHeld = false

  constructor(name: string, parent?: TreeNode) {
    this.name = name
    this.parent = parent
  }

  /** Path relative to the root, with `/`; '' for the root itself. */
  get path(): string {
    const above = this.parent?.path
    return above ? `${above}/${this.name}` : this.name
  }

  /** Returns the child of that name; creates it if it does not exist. */
  child(name: string): TreeNode {
    this.children ??= new Map()
    let child = this.children.get(name)
    if (!child) {
      child = new TreeNode(name, this)
      this.children.set(name, child)
    }
    return child
  }

  find(path: string): TreeNode | undefined {
    let node: TreeNode | undefined = this
    if (path !== '') for (const name of path.split('/')) node = node?.children?.get(name)
    return node
  }

  at(path: string): TreeNode {
    let node: TreeNode = this
    if (path !== '') for (const name of path.split('/')) node = node.child(name)
    return node
  }

  /** Removes this node and its parents as long as they have no state. */
  prune(): void {
    if (!this.parent || this.isHeld || this.local || this.remote || this.base || this.children?.size) return
    if (this.parent.children?.get(this.name) === this) this.parent.children.delete(this.name)
    this.parent.prune()
  }

  /**
   * Yields the node and its descendants, folders before their contents. Nodes that are removed during the iteration may
   * be skipped.
   */
  *walk(): Generator<TreeNode> {
    yield this
    if (this.children) for (const child of this.children.values()) yield* child.walk()
  }
}
