import { copyEntry, type FileEntry, isFolder } from '../core/entry.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { SMALL_FILE } from '../stage/writer.ts'
import type { FolderParts } from './folder-parts.ts'

/** Uploads the local version of a path. */
export class Upload {
  readonly #parts: FolderParts
  readonly #clear: (node: TreeNode) => boolean

  /**
   * `clear` empties a folder of the container. If it returns false, something remains in the folder, and the caller
   * does nothing more with the path of the folder.
   */
  constructor(parts: FolderParts, clear: (node: TreeNode) => boolean) {
    this.#parts = parts
    this.#clear = clear
  }

  send(node: TreeNode): void {
    const { state, remote: steps, large } = this.#parts
    const { local, remote } = node
    if (!local) {
      state.again(node)
      return
    }
    if (!this.#hasParent(node)) return
    if (isFolder(remote) && !isFolder(local) && !this.#clear(node)) return
    if (local.kind === 'folder') steps.change(node, { kind: 'folder' })
    else if (local.kind === 'link') steps.change(node, { kind: 'link', target: local.target! })
    else if (local.size > SMALL_FILE) large.add(node, 'send')
    else this.#sendFile(node)
  }

  #sendFile(node: TreeNode): void {
    const { state, remote, contents } = this.#parts
    const read = contents.read(node)
    if (!read) return
    const { mtime, executable } = read.entry
    const meta = { mtime: mtime + state.world.ahead, ...(executable !== undefined && { executable }) }
    const source = this.#movedFrom(node, read.entry)
    if (source) remote.change(node, { kind: 'move', from: source.path, moved: source.remote, ...meta }, read.entry)
    else remote.change(node, { kind: 'file', bytes: read.bytes, ...meta }, read.entry)
  }

  /**
   * Returns the file of the container that was renamed to this path on the laptop. If the path already exists in the
   * container, the file is written instead of renamed, so that watchers notice it.
   */
  #movedFrom(node: TreeNode, { size, hash = '' }: FileEntry): TreeNode | undefined {
    const { state } = this.#parts
    const source = node.remote || state.attempts(node) > 0 ? undefined : state.gone.inContainer(size, hash)
    return source && source !== node && !state.leaving.has(source) ? source : undefined
  }

  /** Returns false if the parent folder does not exist yet; the path then waits for it. */
  #hasParent(node: TreeNode): boolean {
    const parent = node.parent!
    const { state, decisions, remote } = this.#parts
    if (!parent.parent || isFolder(parent.remote) || state.arriving.has(parent)) return true
    if (state.isWaiting(parent) || state.busy.has(parent)) {
      state.block(parent, node)
      return false
    }
    if (parent.remote || !isFolder(parent.local)) {
      decisions.insist(parent)
      state.block(parent, node)
      state.mark(parent)
      return false
    }
    if (!this.#hasParent(parent)) {
      state.block(parent, node)
      return false
    }
    state.queue.delete(parent)
    remote.change(parent, { kind: 'folder' })
    return true
  }

  sendMeta(node: TreeNode): void {
    const { state, remote } = this.#parts
    const { mtime, executable } = node.local!
    const hash = node.local!.hash ?? node.base?.local?.hash
    if (hash) node.local = copyEntry(node.local!, { hash })
    const bit = executable === undefined ? {} : { executable }
    const isNew = node.base?.local?.mtime !== mtime && node.base !== undefined
    remote.change(node, { kind: 'meta', ...(isNew && { mtime: mtime + state.world.ahead }), ...bit })
  }

  remove(node: TreeNode): void {
    const { state, remote } = this.#parts
    if (isFolder(node.remote) && !this.#clear(node)) return
    if (!node.remote) {
      state.again(node)
      return
    }
    remote.change(node, { kind: 'remove' })
  }
}
