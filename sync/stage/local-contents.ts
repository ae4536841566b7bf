import { copyEntry, type FileEntry, isUntouched } from '../core/entry.ts'
import { hashAtRest, hashOf } from '../core/hash.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { readSmall } from '../scan/reader.ts'
import type { FolderState } from '../session/folder-state.ts'
import { describeError } from './problems.ts'
import { SMALL_FILE } from './writer.ts'

/**
 * Reads the laptop's files so that the sync can decide about them. Other processes may write to the files at the same
 * time.
 */
export class LocalContents {
  readonly #state: FolderState

  constructor(state: FolderState) {
    this.#state = state
  }

  /** Reads a small file. Returns undefined if that is not possible now; the path is then checked again later. */
  read(node: TreeNode): { readonly entry: FileEntry; readonly bytes: Buffer } | undefined {
    const state = this.#state
    const path = node.path
    try {
      const read = readSmall(state.world.disk, state.writer.place(path), SMALL_FILE)
      if (read.bytes && (read.kind === 'read' || state.attempts(node) > 3)) {
        const entry = copyEntry(read.entry!, { hash: hashOf(read.bytes) })
        if (read.kind === 'read') node.local = entry
        else state.live.hint(path)
        return { entry, bytes: read.bytes }
      }
      state.live.refresh(path)
      // A file that is written to continuously is sent once per second, in its current state.
      state.retry(node, state.attempts(node) < 3 ? 50 : 1_000)
    } catch (error) {
      const before = node.local
      state.live.refresh(path)
      // The file was deleted or replaced, or it cannot be read.
      if (isUntouched(before, node.local)) state.fail(node, 'local', describeError(error))
      else state.again(node)
    }
    return undefined
  }

  /** Hashes a large file in parallel with other work; the path is checked again afterwards. */
  hashLarge(node: TreeNode): void {
    this.#state.setBusy(node)
    void this.#hashLarge(node)
  }

  async #hashLarge(node: TreeNode): Promise<void> {
    const state = this.#state
    const { disk, clock } = state.world
    const path = node.path
    try {
      const read = await hashAtRest(disk, clock, state.writer.place(path))
      if (read && isUntouched(node.local, read)) node.local = copyEntry(node.local!, { hash: read.hash })
      else state.live.refresh(path)
      state.again(node)
    } catch (error) {
      state.live.refresh(path)
      state.fail(node, 'local', describeError(error))
    }
    state.world.rested()
  }
}
