import { copyEntry, type FileEntry } from '../core/entry.ts'
import type { Decision } from '../core/merge.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { SMALL_FILE } from '../stage/writer.ts'
import { Download } from './download.ts'
import { type FolderParts, finishPath } from './folder-parts.ts'
import { Upload } from './upload.ts'

/** Time for which a mounted file may be missing on the laptop before it is reported, in milliseconds. */
const STAYING = 1_000

/** Checks paths, and starts the decided actions. */
export class Transition {
  readonly #parts: FolderParts
  readonly #isMountedFile: boolean
  readonly #toContainer: Upload
  readonly #toLaptop: Download

  constructor(parts: FolderParts, options: { readonly root: string; readonly isMountedFile: boolean }) {
    this.#parts = parts
    this.#isMountedFile = options.isMountedFile
    this.#toContainer = new Upload(parts, node => this.#clear(node, 'remote'))
    this.#toLaptop = new Download(parts, options.root, node => this.#clear(node, 'local'))
  }

  /** Checks one path. */
  step(node: TreeNode): void {
    const { state, decisions } = this.#parts
    if (state.busy.has(node)) {
      state.mark(node)
      return
    }
    state.queue.delete(node)
    state.deferred.delete(node)
    const decision = decisions.decide(node)
    if (decision) this.#do(node, decision)
  }

  #do(node: TreeNode, decision: Decision): void {
    const { state, deletions, local } = this.#parts
    if (decision.do !== 'remove-local') deletions.letGo(node)
    switch (decision.do) {
      case 'nothing':
        finishPath(this.#parts, node)
        return
      case 'agree':
        state.setBase(node, agreed(node))
        finishPath(this.#parts, node)
        return
      case 'forget':
        state.setBase(node, undefined)
        finishPath(this.#parts, node)
        return
      case 'hash':
        this.#hash(node, decision.local, decision.remote)
        return
      case 'send':
        if (this.#isSafe(node, decision.keep)) this.#toContainer.send(node)
        return
      case 'remove-remote':
        this.#removeRemote(node, decision.keep)
        return
      case 'send-meta':
        this.#toContainer.sendMeta(node)
        return
      case 'fetch-meta':
        local.setMode(node)
        return
      case 'fetch':
        this.#toLaptop.fetch(node)
        return
      case 'remove-local':
        this.#removeLocal(node)
        return
    }
  }

  /** Returns false if the container's version must be saved first, and starts to save it. */
  #isSafe(node: TreeNode, keep: boolean): boolean {
    const { conflicts } = this.#parts
    if (!keep || conflicts.isKept(node)) return true
    conflicts.keep(node)
    return false
  }

  #removeRemote(node: TreeNode, keep: boolean): void {
    const { state, losses, large } = this.#parts
    // A partially read folder does not show that all files are gone.
    if (state.live.isReading) state.waitForScan(node)
    else if (losses.isEmptied()) {
      state.mark(node)
      losses.stop('local')
    } else if (this.#isMountedFile) this.#stay(node)
    else if (this.#isSafe(node, keep) && !large.needs(node)) this.#toContainer.remove(node)
  }

  /**
   * Waits for a missing mounted file before reporting it: editors that save by renaming delete the file for a moment.
   */
  #stay(node: TreeNode): void {
    const { state } = this.#parts
    if (state.attempts(node) === 0) state.retry(node, STAYING)
    else state.fail(node, 'local', 'the file has gone here; the container has it mounted and keeps it')
  }

  #removeLocal(node: TreeNode): void {
    const { deletions, large, losses } = this.#parts
    if (!large.needs(node) && (losses.mayBeEmpty || !deletions.holds(node))) this.#toLaptop.remove(node)
  }

  #hash(node: TreeNode, local: boolean, remote: boolean): void {
    const { state, contents, remote: steps } = this.#parts
    if (local && node.local?.kind === 'file') {
      if (node.local.size > SMALL_FILE) {
        contents.hashLarge(node)
        return
      }
      if (!contents.read(node)) return
    }
    if (remote) steps.hash(node)
    else state.again(node)
  }

  /**
   * Starts the deletion of everything in a folder on one side, in the same batch. Returns false if something remains.
   * The folder is then checked again once its contents are deleted. If some of the contents stay, the folder stays,
   * too.
   */
  #clear(node: TreeNode, side: 'local' | 'remote'): boolean {
    const { state, losses } = this.#parts
    const isThere = (child: TreeNode) =>
      side === 'local' ? child.local !== undefined : child.remote !== undefined && !state.leaving.has(child)
    const children = () => [...(node.children?.values() ?? [])].filter(isThere)
    for (const child of children()) if (!state.busy.has(child)) this.step(child)
    if (losses.stopped) {
      state.mark(node)
      return false
    }
    const left = children()
    if (left.length === 0) return true
    if (left.some(child => state.isPending(child))) {
      state.deferred.add(node)
      return false
    }
    this.#stays(node, side)
    return false
  }

  #stays(node: TreeNode, side: 'local' | 'remote'): void {
    const { state } = this.#parts
    if (node.local && node.remote) {
      state.fail(node, side, 'the folder in its place is not empty')
      return
    }
    // The folder exists only on this side, with ignored files or files of the image.
    const other = [...(node.children?.values() ?? [])].every(
      child => child.base?.local === undefined || child.base.remote === undefined,
    )
    state.setBase(node, other ? { local: node.local, remote: node.remote } : undefined)
    if (other) finishPath(this.#parts, node)
    else state.again(node)
  }
}

/**
 * Returns the current entries of both sides as their agreed state. A hash that is known for one side applies to both.
 */
function agreed({ base, local, remote }: TreeNode) {
  const hash = local?.hash ?? remote?.hash ?? base?.local?.hash ?? base?.remote?.hash
  const withHash = (entry: FileEntry | undefined) =>
    entry?.kind === 'file' && entry.size > 0 && hash !== undefined ? copyEntry(entry, { hash }) : entry
  return { local: withHash(local), remote: withHash(remote), ...(base?.isTheirs && { isTheirs: true }) }
}
