import { type FileEntry, isUntouched } from './entry.ts'
import type { TreeNode } from './tree-node.ts'

/** Returns the hash of the contents on which both sides last agreed; undefined if it is unknown. */
export const agreedHash = ({ base }: TreeNode): string | undefined => base?.local?.hash ?? base?.remote?.hash

/**
 * Files that were just deleted on one side and still exist on the other: if such a file was renamed, its contents need
 * not be sent.
 */
export class RenameCandidates {
  readonly #byHash = new Map<string, TreeNode>()
  readonly #byInode = new Map<number, TreeNode>()

  /** Records the file of a node, if the file was just deleted on one of the two sides. */
  see(node: TreeNode): void {
    const { base, local, remote } = node
    if (
      base?.local?.kind !== 'file' ||
      base.remote?.kind !== 'file' ||
      (local === undefined) === (remote === undefined)
    )
      return
    const hash = agreedHash(node)
    if (hash === undefined) return
    if (remote) this.#byHash.set(hash, node)
    else this.#byInode.set(base.remote.inode, node)
  }

  /** Returns a file with these contents that was deleted on the laptop, but still exists in the container. */
  inContainer(size: number, hash: string): TreeNode | undefined {
    const found = this.#byHash.get(hash)
    return found && !found.local && hasThere(found, size) && agreedHash(found) === hash ? found : undefined
  }

  /**
   * Returns the file that was renamed in the container, found by its inode: its old path no longer exists in the
   * container, and the laptop's version is unchanged.
   */
  here({ inode, size, mtime }: FileEntry): TreeNode | undefined {
    const found = this.#byInode.get(inode)
    const before = found?.base?.remote
    if (!found || found.remote || before?.inode !== inode || before.size !== size || before.mtime !== mtime)
      return undefined
    return found.local && isUntouched(found.base?.local, found.local) ? found : undefined
  }

  forget(): void {
    this.#byHash.clear()
    this.#byInode.clear()
  }
}

/**
 * Returns true if the container still has the file on which both sides agreed at the path, and it has the given size in
 * bytes.
 */
export const hasThere = ({ base, remote }: TreeNode, size: number): boolean =>
  remote?.kind === 'file' && remote.size === size && isUntouched(base?.remote, remote)
