import type { SyncClock } from '../core/clock.ts'
import { encodeEntry, isUntouched, type WireEntry } from '../core/entry.ts'
import { outsideProblem } from '../core/paths.ts'
import { TreeNode } from '../core/tree-node.ts'
import type { ItemResult, Move, RequestedChange } from '../protocol/requests.ts'
import { type IgnoreSource, toRules } from '../scan/ignore-source.ts'
import { Scanner } from '../scan/scanner.ts'
import type { Disk } from '../stage/disk.ts'
import { makeFolders } from '../stage/disk-files.ts'
import { describeError } from '../stage/problems.ts'
import type { SyncVolume } from '../stage/volume.ts'
import { type PathChange, type WriteMode, Writer } from '../stage/writer.ts'

export interface ServedFolderOptions {
  readonly disk: Disk
  readonly clock: SyncClock
  readonly name: string
  readonly root: string
  readonly volume: SyncVolume
  readonly write: WriteMode
  readonly recursive: boolean
  /**
   * False if the application starts only after a call of `watch`. Before this call, no process can observe partially
   * written files.
   */
  readonly isWatched: boolean
  readonly ignores: IgnoreSource
  readonly rescanInterval: number
  /** Called when changes can be reported. */
  readonly changed: () => void
  /** Called when the container itself has created folders of packages or build results, which are not synchronized. */
  readonly owns: (paths: readonly string[]) => void
}

/** Sync folder in the container: its contents, their changes, and writes to it. */
export class ServedFolder {
  readonly name: string
  readonly ignores: IgnoreSource
  readonly writer: Writer
  readonly tree = new TreeNode('')
  readonly live: Scanner
  /** Paths with changes that the laptop does not know yet. */
  readonly dirty = new Set<string>()
  /** Paths that could not be read, with the errors. Paths below them do not count as deleted. */
  readonly unreadable = new Map<string, string>()
  /** Folders such as `node_modules` that the container itself has created. */
  readonly own: Set<string>
  #mayOwnMore: boolean
  #isClosed = false
  #toldLeftOut = 0
  readonly #options: ServedFolderOptions

  constructor(options: ServedFolderOptions) {
    this.#options = options
    this.name = options.name
    this.ignores = options.ignores
    const { disk, clock, root, volume } = options
    makeFolders(disk, root)
    this.own = new Set(volume.ownFolders(this.name))
    this.#mayOwnMore = !volume.hasImage(this.name)
    this.writer = new Writer({ disk, root, stage: volume.stage, write: options.write })
    this.writer.isUnwatched = !options.isWatched
    this.live = new Scanner({
      disk,
      clock,
      root,
      tree: this.tree,
      ignores: toRules(options.ignores, path => this.#isOwn(path)),
      recursive: options.recursive,
      isWatched: options.isWatched,
      rescanInterval: options.rescanInterval,
      changed: node => {
        if (node.parent) this.dirty.add(node.path)
      },
      settled: () => options.changed(),
      problem: (path, error) => {
        const message = describeError(error)
        this.unreadable.set(path, message)
        this.live.leftOut.add(path, message)
      },
    })
  }

  /** Reads the full folder; the laptop then receives the full tree. */
  async start(): Promise<void> {
    await this.live.start()
    // If closed meanwhile, the scan is incomplete: files that it has not reached would not be recorded as part of the
    // image.
    if (this.#isClosed) return
    this.#options.volume.setOwnFolders(this.name, [...this.own])
    // An own folder that the ignore file includes again is synchronized.
    this.#options.volume.setUnsyncedFolders(
      this.name,
      [...this.own].filter(path => !this.tree.find(path)?.local),
    )
    this.#options.volume.markImage(this.name, this.tree)
    this.#mayOwnMore = true
    this.dirty.clear()
  }

  /** Starts watching, because the application may start now. */
  watch(): void {
    this.writer.isUnwatched = false
    this.live.watch()
  }

  /**
   * Returns true if the container itself has created the folder. Folders from the laptop are already in the tree at
   * this point.
   */
  #isOwn(path: string): boolean {
    if (this.own.has(path)) return true
    const { disk, root } = this.#options
    if (!this.#mayOwnMore || this.tree.find(path)?.local || entryKind(disk, `${root}/${path}`) !== 'folder')
      return false
    this.own.add(path)
    this.#noteOwn(path)
    return true
  }

  #noteOwn(path: string): void {
    const { volume, owns } = this.#options
    try {
      if (!volume.hasImage(this.name)) return
      volume.setOwnFolders(this.name, [...this.own])
      owns([path])
    } catch {
      // The state in the volume cannot be read, so nothing is recorded.
    }
  }

  /** Returns the paths with unreported changes, and their current entries. */
  takeChanges(): readonly (readonly [string, WireEntry])[] {
    const paths = [...this.dirty]
    this.dirty.clear()
    return paths.map(path => [path, encodeEntry(this.tree.find(path)?.local)])
  }

  /**
   * Returns the paths in the container that cannot be synchronized; undefined if they have not changed since the last
   * report and `all` is false.
   */
  takeLeftOut(
    all: boolean,
  ): { readonly count: number; readonly paths: readonly (readonly [string, string])[] } | undefined {
    const { leftOut } = this.live
    if (!all && leftOut.version === this.#toldLeftOut) return undefined
    this.#toldLeftOut = leftOut.version
    return { count: leftOut.count, paths: leftOut.first() }
  }

  /** Yields all existing entries, folder by folder. */
  *snapshot(size: number): Generator<readonly (readonly [string, WireEntry])[]> {
    let entries: (readonly [string, WireEntry])[] = []
    for (const node of this.tree.walk()) {
      if (!node.local || !node.parent) continue
      entries.push([node.path, encodeEntry(node.local)])
      if (entries.length < size) continue
      yield entries
      entries = []
    }
    yield entries
  }

  apply(writes: readonly RequestedChange[]): readonly ItemResult[] {
    this.writer.begin()
    return writes.map(({ change, ...one }) =>
      change.kind === 'move' ? this.move(one, change) : this.applyOne({ ...one, change }),
    )
  }

  /**
   * Renames a file if its entry is as expected. The deletion of the old path is reported to the laptop like every other
   * change.
   */
  move(
    { path, expect }: Pick<PathChange, 'path' | 'expect'>,
    { from, moved, mtime, executable }: Omit<Move, 'kind'>,
  ): ItemResult {
    // The writer checks only the destination of a rename, not the source.
    const message = outsideProblem(path) ?? outsideProblem(from)
    if (message) return { kind: 'problem', entry: undefined, message }
    this.live.refresh(from)
    if (!moved || !isUntouched(moved, this.tree.find(from)?.local))
      return { kind: 'changed', entry: this.tree.find(path)?.local }
    const meta = { mtime, ...(executable !== undefined && { executable }) }
    const result = this.applyOne({ path, expect, change: { kind: 'staged', stage: this.writer.place(from), ...meta } })
    this.live.refresh(from)
    return result
  }

  applyOne(write: PathChange): ItemResult {
    const { path } = write
    try {
      const result = this.writer.write(write)
      if (result.kind !== 'not-empty') this.live.wrote(path, result.entry)
      return result
    } catch (error) {
      this.live.refresh(path)
      this.dirty.delete(path)
      return { kind: 'problem', entry: this.tree.find(path)?.local, message: describeError(error) }
    }
  }

  close(): void {
    this.#isClosed = true
    this.live.close()
  }
}

/** Returns the kind of an entry; undefined if the path does not exist or cannot be read. */
function entryKind(disk: Disk, path: string): string | undefined {
  try {
    const entry = disk.entry(path)
    return entry === 'other' ? undefined : entry?.kind
  } catch {
    return undefined
  }
}
