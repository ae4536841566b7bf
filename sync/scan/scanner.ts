import { type SyncClock, turn } from '../core/clock.ts'
import { type FileEntry, isUntouched } from '../core/entry.ts'
import { joinPath, placeIn } from '../core/paths.ts'
import { NO_FILE, NOT_UTF8, SkippedPaths } from '../core/skipped-paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import type { IgnoreRules } from '../ignore/ignore.ts'
import { type Disk, isMissing } from '../stage/disk.ts'
import { removeLeftover, TEMPORARY } from '../stage/writer.ts'
import { Watchers } from './watchers.ts'

export interface ScannerOptions {
  readonly disk: Disk
  readonly clock: SyncClock
  readonly root: string
  readonly tree: TreeNode
  readonly ignores: IgnoreRules
  readonly recursive: boolean
  /** False if nothing but devctl changes files before `watch` is called. */
  readonly isWatched?: boolean
  /** Seconds between two full scans; 0: never. */
  readonly rescanInterval: number
  /** Called when the node's path has changed. */
  readonly changed: (node: TreeNode) => void
  /** Called when a number of changes is complete. */
  readonly settled: () => void
  readonly problem: (path: string, error: unknown) => void
  /**
   * Called when a limit of the system is reached: this folder and others are read every few seconds instead of being
   * watched.
   */
  readonly limited?: (folder: string, limit: string) => void
  /** Called when the system has reported a path, which may be an ignored one. */
  readonly heard?: (path: string) => void
}

/** Milliseconds without further events before hints are checked, and longest delay after the first event. */
const QUIET = 5
const LONGEST = 200
/** Events in a second from which some count as lost; the system silently drops those it has no room for. */
const OVERFLOW = 8_000
const UNWATCHED_SCAN = 5_000
/** Milliseconds between two checks for a missing root: no event reports that it is back. */
const ROOT_SCAN = 250
/** Number of paths that are checked before other work has a turn. */
const SLICE = 512

/** Keeps the `local` side of a tree equal to the disk: reads everything once, then the paths that watchers report. */
export class Scanner {
  readonly watchers: Watchers
  /** Existing paths that cannot be synchronized. */
  readonly leftOut = new SkippedPaths()
  readonly #options: ScannerOptions
  readonly #hints = new Set<string>()
  #quiet: (() => void) | undefined
  #firstHint = 0
  #lastHint = 0
  #second = 0
  #eventsOfSecond = 0
  /**
   * True if timers have run since the last event: the events of a full queue are delivered back to back, which may take
   * longer than a second.
   */
  #hasPaused = true
  #scan: Promise<void> | undefined
  #scanAgain = false
  #isClosed = false
  #isWatched: boolean
  #isLookingForRoot = false
  #lastChange = 0
  readonly #begun: number
  /** True while no file of ours is being written yet. */
  #isFirstScan = true
  readonly #timers = new Set<() => void>()

  constructor(options: ScannerOptions) {
    this.#options = options
    const { disk, root, recursive } = options
    this.#isWatched = options.isWatched ?? true
    this.#begun = options.clock.now()
    this.watchers = new Watchers({
      disk,
      root,
      recursive,
      changed: path => this.hint(path),
      lost: () => this.scan(),
      limited: (folder, limit) => options.limited?.(folder, limit),
    })
  }

  /** True if no hint is left to check and no scan is running. */
  get isQuiet(): boolean {
    return this.#hints.size === 0 && this.#scan === undefined
  }

  /** Milliseconds since the last change; 0 during a full scan. */
  get still(): number {
    return this.#scan ? 0 : this.#options.clock.now() - this.#lastChange
  }

  /** Reads everything for the first time. */
  async start(): Promise<void> {
    await this.scan()
    this.#isFirstScan = false
    if (this.#isClosed) return
    if (this.#options.rescanInterval > 0) this.#every(this.#options.rescanInterval * 1000, () => this.scan())
    this.#every(UNWATCHED_SCAN, () => this.#readUnwatched())
  }

  /** Starts watching: other programs may change files from now on. Their earlier changes are found, too. */
  watch(): void {
    if (this.#isWatched) return
    this.#isWatched = true
    for (const node of this.#options.tree.walk()) if (node.local?.kind === 'folder') this.watchers.add(node.path)
    void this.scan()
  }

  close(): void {
    this.#isClosed = true
    this.#quiet?.()
    for (const cancel of this.#timers) cancel()
    this.watchers.close()
  }

  /** Notes that something may have happened at a path. */
  hint(path: string): void {
    if (this.#isClosed || this.#countsAsLost()) return
    const { clock, ignores } = this.#options
    if (isTemporary(path)) return
    this.#options.heard?.(path)
    if (ignores.ignores(path, true) && ignores.ignores(path, false) && !ignores.mayHoldIncluded(path)) return
    this.#lastHint = clock.now()
    if (this.#hints.size === 0) this.#firstHint = this.#lastHint
    this.#hints.add(path)
    if (!this.#quiet) this.#wait(QUIET)
  }

  /**
   * Waits until no hint has come for a moment, or hints have been coming for too long. Uses one timer for many hints.
   */
  #wait(milliseconds: number): void {
    const { clock } = this.#options
    this.#quiet = clock.after(milliseconds, () => {
      const now = clock.now()
      const quiet = this.#lastHint + QUIET - now
      if (quiet > 0 && now < this.#firstHint + LONGEST) this.#wait(quiet)
      else this.flush()
    })
  }

  /** Checks the hinted paths at once. */
  flush(): void {
    this.#quiet?.()
    this.#quiet = undefined
    if (this.#hints.size === 0 || this.#isClosed) return
    const paths = [...this.#hints]
    this.#hints.clear()
    for (const path of paths) this.refresh(path)
    this.#lookForRoot()
    this.#options.settled()
  }

  /** Scans everything. Calls during a scan are coalesced into one further scan. */
  scan(): Promise<void> {
    if (this.#scan) {
      this.#scanAgain = true
      return this.#scan
    }
    this.#scan = this.#scanAll().finally(() => {
      this.#scan = undefined
    })
    return this.#scan
  }

  /** Checks a path, and everything below it if it is a new folder. */
  refresh(path: string): void {
    const above = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    // Through a link that has replaced a folder, files from elsewhere would appear.
    if (above !== '' && this.#options.tree.find(above)?.local?.kind !== 'folder') this.refresh(above)
    else for (const _ of this.#look(path, false));
  }

  /** Records the entry of a path that devctl has just changed itself. */
  wrote(path: string, entry: FileEntry | undefined): void {
    const node = entry ? this.#options.tree.at(path) : this.#options.tree.find(path)
    if (!node) return
    const wasFolder = node.local?.kind === 'folder'
    node.local = entry
    if (wasFolder && entry?.kind !== 'folder') this.watchers.remove(path)
    if (!wasFolder && entry?.kind === 'folder' && this.#isWatched) for (const _ of this.#list(node, path, false));
  }

  async #scanAll(): Promise<void> {
    do {
      this.#scanAgain = false
      let looked = 0
      for (const _ of this.#look('', true)) {
        if (++looked % SLICE > 0) continue
        await turn(this.#options.clock)
        if (this.#isClosed) return
      }
      this.#lookForRoot()
      this.#options.settled()
    } while (this.#scanAgain && !this.#isClosed)
  }

  /**
   * Schedules a scan if the root is missing. It may come back: it was moved, or a branch without it was checked out.
   */
  #lookForRoot(): void {
    if (this.#options.tree.local || this.#isLookingForRoot) return
    this.#isLookingForRoot = true
    this.#after(ROOT_SCAN, () => {
      this.#isLookingForRoot = false
      void this.scan()
    })
  }

  /** Checks a path, and what is below it as needed. Yields once for each path that it checks. */
  *#look(path: string, isDeep: boolean): Generator<void> {
    const { tree, root, disk } = this.#options
    yield
    let entry: FileEntry | undefined
    try {
      const found = disk.entry(placeIn(root, path))
      entry = found === 'other' ? undefined : found
      this.#noteLeftOut(path, found)
    } catch (error) {
      // A path that cannot be read keeps its last known state: it does not count as deleted.
      this.#options.problem(path, error)
      return
    }
    if (entry && this.#isIgnored(path, entry)) entry = undefined
    const known = tree.find(path)
    if (!entry && !known) return
    yield* this.#see(known ?? tree.at(path), path, entry, isDeep)
  }

  /**
   * Records or removes a path that is left out. A name that is not UTF-8 is listed with another character, and no file
   * is found under that name.
   */
  #noteLeftOut(path: string, found: FileEntry | 'other' | undefined): void {
    const message = found === 'other' ? NO_FILE : !found && this.#isListed(path) ? NOT_UTF8 : undefined
    if (message && !this.#options.ignores.ignores(path, false)) this.leftOut.add(path, message)
    else this.leftOut.delete(path)
  }

  #isListed(path: string): boolean {
    const end = path.lastIndexOf('/')
    const name = path.slice(end + 1)
    if (!name.includes(REPLACEMENT)) return false
    const { disk, root } = this.#options
    try {
      return disk.list(placeIn(root, path.slice(0, Math.max(0, end)))).includes(name)
    } catch {
      return false
    }
  }

  *#see(node: TreeNode, path: string, entry: FileEntry | undefined, isDeep: boolean): Generator<void> {
    const before = node.local
    const isAnother = isAnotherFolder(before, entry)
    if (isAnother) {
      this.watchers.remove(path)
      node.local = entry
    }
    if (!isUntouched(before, entry)) {
      node.local = entry
      if (before?.kind === 'folder') yield* this.#forgetBelow(node, path)
      this.#lastChange = this.#options.clock.now()
      this.#options.changed(node)
    }
    if (entry?.kind === 'folder' && (isDeep || isAnother || before?.kind !== 'folder'))
      yield* this.#list(node, path, isDeep || isAnother)
    else if (!entry) node.prune()
  }

  /** Forgets everything in a folder that was deleted. */
  *#forgetBelow(node: TreeNode, path: string): Generator<void> {
    this.watchers.remove(path)
    this.leftOut.forgetBelow(path)
    for (const child of [...(node.children?.values() ?? [])]) {
      if (!child.local) continue
      yield* this.#see(child, joinPath(path, child.name), undefined, false)
    }
  }

  /** Reads a folder. The watcher is added first, so that no event in between is missed. */
  *#list(node: TreeNode, path: string, isDeep: boolean): Generator<void> {
    if (this.#isWatched) this.watchers.add(path)
    const { disk, root } = this.#options
    let names: readonly string[]
    try {
      names = disk.list(placeIn(root, path))
    } catch (error) {
      // Deleted since the last check: an event will report it. What cannot be read stays as it was.
      if (isMissing(error)) return
      this.#options.problem(path, error)
      return
    }
    const found = new Set(names)
    this.leftOut.keep(path, found)
    for (const child of [...(node.children?.values() ?? [])])
      if (child.local && !found.has(child.name)) yield* this.#look(joinPath(path, child.name), isDeep)
    for (const name of names)
      if (!name.startsWith(TEMPORARY)) yield* this.#look(joinPath(path, name), isDeep)
      else if (this.#isFirstScan) removeLeftover(disk, placeIn(root, joinPath(path, name)), this.#begun)
  }

  /** Returns true if a path is ignored. An ignored folder is kept if something in it is included. */
  #isIgnored(path: string, entry: FileEntry): boolean {
    const { ignores } = this.#options
    const isDirectory = entry.kind === 'folder'
    if (path === '' || !ignores.ignores(path, isDirectory)) return false
    return !(isDirectory && ignores.mayHoldIncluded(path))
  }

  #countsAsLost(): boolean {
    const second = Math.floor(this.#options.clock.now() / 1000)
    if (second !== this.#second && this.#hasPaused) {
      this.#eventsOfSecond = 0
      this.#second = second
    }
    if (this.#hasPaused) {
      this.#hasPaused = false
      this.#after(0, () => {
        this.#hasPaused = true
      })
    }
    this.#eventsOfSecond++
    if (this.#eventsOfSecond < OVERFLOW) return false
    if (this.#eventsOfSecond === OVERFLOW) {
      this.#hints.clear()
      this.#after(1000, () => this.scan())
    }
    return true
  }

  #readUnwatched(): void {
    const { tree } = this.#options
    for (const folder of [...this.watchers.unwatched]) {
      const node = tree.find(folder)
      if (node?.local?.kind !== 'folder') this.watchers.remove(folder)
      else for (const _ of this.#list(node, folder, false));
    }
    this.#options.settled()
  }

  #every(milliseconds: number, call: () => void): void {
    this.#after(milliseconds, () => {
      call()
      this.#every(milliseconds, call)
    })
  }

  #after(milliseconds: number, call: () => void): void {
    if (this.#isClosed) return
    const cancel = this.#options.clock.after(milliseconds, () => {
      this.#timers.delete(cancel)
      call()
    })
    this.#timers.add(cancel)
  }
}

/** Replacement character for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd'

const isTemporary = (path: string): boolean => path.slice(path.lastIndexOf('/') + 1).startsWith(TEMPORARY)

/**
 * Returns true for a folder that was deleted and created again between two checks. Its watcher is on the deleted one.
 */
const isAnotherFolder = (before: FileEntry | undefined, now: FileEntry | undefined): boolean =>
  before?.kind === 'folder' && now?.kind === 'folder' && (before.inode !== now.inode || before.ctime !== now.ctime)
