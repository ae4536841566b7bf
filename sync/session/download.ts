import { copyEntry, type FileEntry, isFolder, isUntouched } from '../core/entry.ts'
import { hashOf } from '../core/hash.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { readSmall } from '../scan/reader.ts'
import { spaceProblem } from '../stage/free-space.ts'
import { isToolFile } from '../stage/tool-files.ts'
import { SMALL_FILE } from '../stage/writer.ts'
import { type FolderParts, finishPath } from './folder-parts.ts'
import type { WantedFile } from './remote-steps.ts'

/** Size in bytes from which a new file of the container is announced before it arrives. */
const LARGE = 100_000_000

/** Downloads the container's version of a path. */
export class Download {
  readonly #parts: FolderParts
  readonly #root: string
  readonly #clear: (node: TreeNode) => boolean
  /** Paths of large files that were announced. */
  readonly #announced = new Set<string>()
  /** Paths of files that determine what a tool runs (`isToolFile`), and that were reported. */
  readonly #toolFiles = new Set<string>()

  /**
   * `clear` empties a folder of the laptop. If it returns false, something remains in the folder, and the caller does
   * nothing more with the path of the folder.
   */
  constructor(parts: FolderParts, root: string, clear: (node: TreeNode) => boolean) {
    this.#parts = parts
    this.#root = root
    this.#clear = clear
    parts.remote.onContents = (wanted, bytes, hash) => this.#contents(wanted, bytes, hash)
    parts.large.isWanted = node => parts.decisions.decide(node)?.do === 'fetch' && this.#hasPlace(node)
  }

  fetch(node: TreeNode): void {
    const { state, local, remote: steps, large } = this.#parts
    const remote = node.remote!
    if (local.refuses(node)) return
    if (isFolder(node.local) && !isFolder(remote) && !this.#clear(node)) return
    if (!this.#hasPlace(node)) return
    this.#tellToolFile(node, remote)
    if (remote.kind === 'folder') {
      if (local.makeFolder(node)) finishPath(this.#parts, node)
    } else if (remote.kind === 'link') local.makeLink(node)
    else if (remote.size > SMALL_FILE) {
      this.#announce(node, remote)
      large.add(node, 'fetch')
    } else if (!this.#fetchRenamed(node, remote)) {
      const full = spaceProblem(state.world.disk, this.#root, remote.size)
      if (full) state.fail(node, 'local', full)
      else steps.read({ node, remote, keep: false })
    }
  }

  /** Announces a large file, so that users who do not want it have time to react. */
  #announce({ path, base }: TreeNode, { size }: FileEntry): void {
    const { world, name } = this.#parts.state
    if (size < LARGE || base || this.#announced.has(path)) return
    this.#announced.add(path)
    world.report({ kind: 'large', folder: name, path, size })
  }

  /** Reports a file that determines what a tool runs, so that users can check it before the tool reads it. */
  #tellToolFile({ path }: TreeNode, { kind }: FileEntry): void {
    if (kind === 'folder' || this.#toolFiles.has(path) || !isToolFile(path)) return
    const { world, name } = this.#parts.state
    this.#toolFiles.add(path)
    world.report({ kind: 'tool-file', folder: name, path })
  }

  /**
   * Handles a file that the container has renamed: takes the contents from the old path on the laptop, instead of
   * downloading them. Returns false if the file was not renamed, or if the laptop has other contents at the old path.
   */
  #fetchRenamed(node: TreeNode, remote: FileEntry): boolean {
    const { state, remote: steps } = this.#parts
    const { gone, world, writer } = state
    const source = remote.size > 0 && state.attempts(node) === 0 ? gone.here(remote) : undefined
    if (!source) return false
    if (remote.hash === undefined) {
      steps.hash(node)
      return true
    }
    try {
      const read = readSmall(world.disk, writer.place(source.path), SMALL_FILE)
      if (read.kind !== 'read' || hashOf(read.bytes) !== remote.hash) return false
      const isMoved = !source.base?.isTheirs
      this.#contents({ node, remote, keep: false, isMoved }, read.bytes, remote.hash)
      return true
    } catch {
      return false
    }
  }

  #contents({ node, remote, keep, isMoved = false }: WantedFile, bytes: Buffer, hash: string): void {
    const { state, local, decisions, conflicts } = this.#parts
    if (keep) {
      conflicts.keepBytes(node, remote, bytes)
      return
    }
    if (!isUntouched(remote, node.remote)) {
      state.again(node)
      return
    }
    node.remote = copyEntry(remote, { hash })
    local.begin()
    // The contents may be unchanged, or the laptop's version may have changed in the meantime.
    if (decisions.decide(node)?.do !== 'fetch') {
      state.again(node)
      return
    }
    const isClear = !isFolder(node.local) || this.#clear(node)
    if (isClear && this.#hasPlace(node)) local.writeFile(node, bytes, node.remote, isMoved)
    else if (state.busy.has(node)) state.again(node)
  }

  /**
   * Creates the parent folders. Returns false if something has appeared at the path in the meantime, or a parent cannot
   * be created now; the path is then checked again.
   */
  #hasPlace(node: TreeNode): boolean {
    const { state, local: steps } = this.#parts
    const { local } = node
    if (!steps.makeParents(node)) return false
    if (node.local === local) return true
    state.again(node)
    return false
  }

  remove(node: TreeNode): void {
    const { local, deletions } = this.#parts
    if (isFolder(node.local) && !this.#clear(node)) return
    deletions.made(node)
    local.remove(node)
  }
}
