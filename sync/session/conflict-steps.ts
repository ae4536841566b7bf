import { type FileEntry, isUntouched } from '../core/entry.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { spaceProblem } from '../stage/free-space.ts'
import type { LargeFiles } from '../stage/large-files.ts'
import { describeError } from '../stage/problems.ts'
import { SMALL_FILE } from '../stage/writer.ts'
import type { FolderState } from './folder-state.ts'
import type { RemoteSteps } from './remote-steps.ts'

/** Saves the container's version of a path as a conflict, before the laptop's version replaces it. */
export class ConflictSteps {
  readonly #state: FolderState
  readonly #remote: RemoteSteps
  readonly #large: LargeFiles
  /** Entries of the saved versions, for paths that are not finished yet. */
  readonly #kept = new Map<TreeNode, FileEntry>()

  constructor(state: FolderState, remote: RemoteSteps, large: LargeFiles) {
    this.#state = state
    this.#remote = remote
    this.#large = large
    large.onKept = (node, remote, place) => this.#wasKept(node, remote, place)
  }

  /** Returns true if the container's current version has been saved. */
  isKept(node: TreeNode): boolean {
    const kept = this.#kept.get(node)
    return kept !== undefined && isUntouched(kept, node.remote)
  }

  /** Starts to save the container's version. The path is checked again afterwards. */
  keep(node: TreeNode): void {
    const remote = node.remote!
    if (remote.kind === 'link') this.keepBytes(node, remote, Buffer.from(remote.target ?? ''))
    else if (remote.size > SMALL_FILE) this.#large.add(node, 'keep')
    else this.#remote.read({ node, remote, keep: true })
  }

  /** Saves the contents that the container had at a path. */
  keepBytes(node: TreeNode, remote: FileEntry, bytes: Buffer): void {
    const { conflicts, clock, disk } = this.#state.world
    try {
      const place = conflicts.placeFor(this.#state.name, node.path, clock.now())
      const full = spaceProblem(disk, place.slice(0, place.lastIndexOf('/')), bytes.length)
      if (full) {
        conflicts.giveUp(place)
        this.#state.fail(node, 'local', full)
        return
      }
      conflicts.keep(place, bytes)
      this.#wasKept(node, remote, place)
    } catch (error) {
      // The container's version could not be saved, so it must not be overwritten.
      this.#state.fail(node, 'local', `the conflicting file could not be kept: ${describeError(error)}`)
    }
  }

  /** Removes the record of a finished path. */
  forget(node: TreeNode): void {
    this.#kept.delete(node)
  }

  #wasKept(node: TreeNode, remote: FileEntry, kept: string): void {
    const { world, name } = this.#state
    this.#kept.set(node, remote)
    world.report({ kind: 'conflict', folder: name, path: node.path, kept, time: world.clock.now() })
    this.#state.again(node)
  }
}
