import { type Agreed, copyEntry, type FileEntry, isFolder } from '../core/entry.ts'
import { linkProblem, nameKey } from '../core/paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { describeError } from '../stage/problems.ts'
import type { PathChange, WriteResult } from '../stage/writer.ts'
import type { FolderState } from './folder-state.ts'

/** Reason why a path of the container cannot exist on the laptop. */
interface Refusal {
  readonly message: string
  /** Path whose name is the same to some file systems. */
  readonly other?: TreeNode
}

/** Applies changes of the container to the files of the laptop. */
export class LocalSteps {
  readonly #state: FolderState
  /** Nodes in each folder, by the name keys (`nameKey`) of their names. Only valid until other work has run. */
  readonly #keys = new Map<TreeNode, Map<string, TreeNode>>()

  constructor(state: FolderState) {
    this.#state = state
  }

  /** Starts a batch: other work may have changed files since the last batch. */
  begin(): void {
    this.#state.writer.begin()
    this.#keys.clear()
  }

  /** Refuses the container's version of a path that cannot exist on the laptop. Returns true if it was refused. */
  refuses(node: TreeNode): boolean {
    return this.#refusesFor(node, node, 'remote')
  }

  #refusesFor(node: TreeNode, place: TreeNode, side: 'local' | 'remote'): boolean {
    const refusal = this.#refusal(place)
    if (!refusal) return false
    this.#state.refuse(node, side, refusal.message)
    if (refusal.other) this.#state.retryAfter(refusal.other, node)
    return true
  }

  #refusal(node: TreeNode): Refusal | undefined {
    const { remote } = node
    const message = remote?.kind === 'link' ? linkProblem(node.path, remote.target ?? '') : undefined
    if (message) return { message }
    const other = node.local ? undefined : this.#sameName(node)
    return other && { message: `\`${other.name}\` is there already, and is the same name to some file systems`, other }
  }

  #sameName(node: TreeNode): TreeNode | undefined {
    const parent = node.parent!
    const { rules } = this.#state.world
    let keys = this.#keys.get(parent)
    if (!keys) {
      keys = new Map()
      for (const child of parent.children!.values()) if (child.local) keys.set(nameKey(child.name, rules), child)
      this.#keys.set(parent, keys)
    }
    const key = nameKey(node.name, rules)
    const found = keys.get(key)
    if (!found) keys.set(key, node)
    return found === node ? undefined : found
  }

  /** Creates the parent folders. Returns false if that is not possible now; the path is then checked again later. */
  makeParents(node: TreeNode): boolean {
    const parent = node.parent!
    if (!parent.parent || isFolder(parent.local)) return true
    if (parent.local) {
      this.#state.block(parent, node)
      this.#state.mark(parent)
      return false
    }
    if (!this.makeParents(parent)) {
      this.#state.block(parent, node)
      return false
    }
    // While creating the parent's parents, the parent itself or a file at its path may have been found.
    if (parent.local) return this.makeParents(node)
    if (this.#refusesFor(node, parent, 'local')) return false
    if (this.makeFolder(parent)) return true
    this.#state.block(parent, node)
    return false
  }

  makeFolder(node: TreeNode): boolean {
    const isTheirs = isOnlyTheirs(node)
    if (!this.change(node, { kind: 'folder', take: this.#take(node) })) return false
    this.#state.setBase(node, isFolder(node.remote) ? agreedOn(node, node.remote, isTheirs) : undefined)
    return true
  }

  makeLink(node: TreeNode): void {
    const remote = node.remote!
    this.#begin(node, remote)
    this.#follow(node, { kind: 'link', target: remote.target!, take: this.#take(node) }, remote)
  }

  /** Sets only the execute bit. Modification times in the container are not applied to the laptop. */
  setMode(node: TreeNode): void {
    const remote = node.remote!
    const { executable } = remote
    const hash = node.local?.hash ?? node.base?.local?.hash
    this.#begin(node, copyEntry(remote, { hash }))
    this.#follow(node, { kind: 'meta', ...(executable !== undefined && { executable }) }, remote, { hash })
  }

  /** Writes a file. `isMoved` is true if the container has renamed a file of the laptop to this path. */
  writeFile(node: TreeNode, bytes: Uint8Array, remote: FileEntry, isMoved: boolean): void {
    const change = { kind: 'file', bytes, ...this.#meta(remote) } as const
    this.#begin(node, remote)
    this.#follow(node, change, remote, { hash: remote.hash, isMoved })
  }

  /** Moves a complete large file from its stage, which is in the same folder, to its path. */
  placeFile(node: TreeNode, stage: string, remote: FileEntry): void {
    this.#begin(node, remote)
    const change = { kind: 'staged', stage, ...this.#meta(remote) } as const
    if (!this.#follow(node, change, remote, { hash: remote.hash })) this.#state.writer.discard(stage)
  }

  /**
   * Applies a change, and records the agreed state. Returns false if the change was not possible; the path is then
   * checked again later.
   */
  #follow(
    node: TreeNode,
    change: PathChange['change'],
    remote: FileEntry,
    { hash, isMoved = false }: { readonly hash?: string | undefined; readonly isMoved?: boolean } = {},
  ): boolean {
    const isTheirs = isOnlyTheirs(node) && !isMoved
    if (!this.change(node, change, hash)) return false
    this.#state.setBase(node, agreedOn(node, remote, isTheirs))
    this.#state.finish(node)
    return true
  }

  /**
   * Records a write before it begins. If this process is killed before the write is complete, the next session checks
   * if the file was written.
   */
  #begin(node: TreeNode, remote: FileEntry): void {
    this.#state.saved.writes(node.path, remote)
  }

  #meta({ mtime, executable }: FileEntry) {
    return { mtime: mtime - this.#state.world.ahead, ...(executable !== undefined && { executable }) }
  }

  /** Deletes a path that was deleted in the container. A folder with ignored files remains, but only on the laptop. */
  remove(node: TreeNode): void {
    const change = { kind: 'remove', take: this.#take(node) } as const
    let result = this.#write(node, change)
    if (result?.kind === 'not-empty' && this.#takeDeletable(node)) result = this.#write(node, change)
    if (!result) return
    if (result.kind === 'not-empty') this.#state.setBase(node, { local: node.local, remote: undefined })
    else this.#state.setBase(node, undefined)
    this.#state.finish(node)
  }

  /** Moves the rest of a folder to the trash if all of it is deleted with the folder. Returns true if it is moved. */
  #takeDeletable({ path }: TreeNode): boolean {
    const { live, writer, world, name } = this.#state
    try {
      const rest = live.deletableIn(path)
      for (const one of rest) world.deleted.take(writer.place(one), name, one, true)
      return rest.length > 0
    } catch {
      // The folder stays, as a folder with other ignored files does.
      return false
    }
  }

  /** Returns the function that moves files to the trash when the container deletes or replaces them. */
  #take(node: TreeNode): (place: string) => void {
    const { name, world } = this.#state
    const isTheirs = isOnlyTheirs(node)
    return place => world.deleted.take(place, name, node.path, isTheirs)
  }

  /** Applies a change. Returns false if the change was not possible; the path is then checked again later. */
  change(node: TreeNode, change: PathChange['change'], hash?: string): boolean {
    const result = this.#write(node, change)
    if (result?.kind === 'not-empty') this.#state.fail(node, 'local', describeError({ code: 'ENOTEMPTY' }))
    if (result?.kind !== 'done') return false
    if (hash !== undefined && node.local) node.local = copyEntry(node.local, { hash })
    return true
  }

  #write(node: TreeNode, change: PathChange['change']): WriteResult | undefined {
    const { live, writer } = this.#state
    const path = node.path
    try {
      const result = writer.write({ path, expect: node.local, change })
      if (result.kind === 'changed') {
        live.refresh(path)
        this.#keys.clear()
        // A file with the same name may have arrived while this one was in flight.
        if (!node.local && this.refuses(node)) return undefined
        // A path that the rules keep out of the tree stays, so another check would not help.
        if (result.entry && !node.local) this.#state.fail(node, 'local', 'something that is ignored is in its place')
        else this.#state.retry(node, 0)
        return undefined
      }
      if (result.kind === 'done') live.wrote(path, result.entry)
      return result
    } catch (error) {
      live.refresh(path)
      this.#state.fail(node, 'local', describeError(error))
      return undefined
    }
  }
}

/** Returns true if every version that the laptop has had at the path came from the container. */
const isOnlyTheirs = ({ base, local }: TreeNode): boolean => (base ? base.isTheirs === true : !local)

const agreedOn = ({ local }: TreeNode, remote: FileEntry | undefined, isTheirs: boolean): Agreed =>
  isTheirs ? { local, remote, isTheirs } : { local, remote }
