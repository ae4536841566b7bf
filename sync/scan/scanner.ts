import { type SyncClock, turn } from '../core/clock.ts'
import { type FileEntry, isUntouched } from '../core/entry.ts'
import { joinPath, type NameRules, placeIn } from '../core/paths.ts'
import { NO_FILE, NOT_UTF8, SkippedPaths } from '../core/skipped-paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import type { IgnoreRules } from '../ignore/ignore.ts'
import { type Disk, isMissing } from '../stage/disk.ts'
import { removeLeftover, TEMPORARY } from '../stage/writer.ts'
import { CaseRenames } from './case-renames.ts'
import { Watchers } from './watchers.ts'

export interface ScannerOptions {
  readonly disk: Disk
  readonly clock: SyncClock
  readonly root: string
  readonly tree: TreeNode
  readonly ignores: IgnoreRules
  /** Rules of the file system; undefined (the default) if it distinguishes all names. */
  readonly rules?: NameRules
  readonly recursive: boolean
  /**
   * True (the default) if programs other than devctl may change the files. If false, the folder is not watched until
   * `watch` is called.
   */
  readonly isWatched?: boolean
  /** Interval between two periodic full scans, in seconds; 0 disables them. */
  readonly rescanInterval: number
  /** Called when the entry at a node's path has changed. */
  readonly changed: (node: TreeNode) => void
  /** Called after a batch of changes. */
  readonly settled: () => void
  readonly problem: (path: string, error: unknown) => void
  /**
   * Called when a system limit is reached, so that this folder and others are scanned every few seconds instead of
   * being watched.
   */
  readonly limited?: (folder: string, limit: string) => void
  /** Called when the system has reported an event for a path, which may be ignored. */
  readonly heard?: (path: string) => void
}

/**
 * Time without further events after which the reported paths are checked, and maximum delay of this check after the
 * first event, in milliseconds.
 */
const QUIET = 5
const LONGEST = 200
/**
 * Number of events per second above which the scanner assumes that further events were lost: when the queue is full,
 * the system drops events silently.
 */
const OVERFLOW = 8_000
const UNWATCHED_SCAN = 5_000
/** Polling interval for a missing root, in milliseconds: no event reports that the root exists again. */
const ROOT_SCAN = 250
/** Number of paths that are checked before yielding to other work. */
const SLICE = 512

/**
 * Keeps the `local` side of a tree in sync with the disk: reads everything once, then the paths that watchers report.
 */
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
   * True if timers have run since the last event. Otherwise the event belongs to a burst: the events of a full queue
   * are delivered without a pause, which can take more than a second.
   */
  #hasPaused = true
  #scan: Promise<void> | undefined
  #scanAgain = false
  /** True if events were lost, until the planned scan begins. */
  #isScanDue = false
  #isReading = false
  #isClosed = false
  #isWatched: boolean
  #isLookingForRoot = false
  #lastChange = 0
  readonly #begun: number
  /**
   * True until the first full scan has ended. During this scan, devctl writes no files, so all temporary files that it
   * finds were left by a killed process.
   */
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

  /** True if no reported path is waiting to be checked, and no scan is running or planned because of lost events. */
  get isQuiet(): boolean {
    return this.#hints.size === 0 && this.#scan === undefined && !this.#isScanDue
  }

  /** True while a full scan runs: a path that it has not reached yet may be gone. */
  get isReading(): boolean {
    return this.#isReading
  }

  /** Time since the last change, in milliseconds; 0 during a full scan. */
  get still(): number {
    return this.#scan ? 0 : this.#options.clock.now() - this.#lastChange
  }

  /** Runs the first full scan and starts periodic scans. */
  async start(): Promise<void> {
    await this.scan()
    this.#isFirstScan = false
    if (this.#isClosed) return
    if (this.#options.rescanInterval > 0) this.#every(this.#options.rescanInterval * 1000, () => this.scan())
    this.#every(UNWATCHED_SCAN, () => this.#readUnwatched())
  }

  /**
   * Starts watching the folder, because other programs may change files from now on. Also scans it for changes that
   * have already been made.
   */
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

  /** Records that something may have changed at a path. */
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
   * Waits until no further paths have been hinted for some time, up to a maximum delay, and then checks them. Uses a
   * single timer.
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

  /** Checks the hinted paths immediately. */
  flush(): void {
    this.#quiet?.()
    this.#quiet = undefined
    if (this.#hints.size === 0 || this.#isClosed) return
    const paths = [...this.#hints]
    this.#hints.clear()
    const renames = new CaseRenames(this.#options)
    for (const path of paths) this.refresh(path, renames)
    this.#lookForRoot()
    this.#options.settled()
  }

  /** Resolves when all changes so far have been read. */
  async caughtUp(): Promise<void> {
    const { clock } = this.#options
    // Wait for events that the system has not delivered yet. If this process was blocked, they arrive after the timers.
    await new Promise<void>(resolve => void clock.after(10, resolve))
    await turn(clock)
    this.flush()
    if (!this.isQuiet) await this.scan()
  }

  /** Runs a full scan. Calls during a scan are coalesced into one further scan. */
  scan(): Promise<void> {
    if (this.#scan) {
      this.#scanAgain = true
      return this.#scan
    }
    this.#scan = this.#scanAll().finally(() => {
      this.#scan = undefined
      this.#isReading = false
      if (!this.#isClosed) this.#options.settled()
    })
    return this.#scan
  }

  /** Checks a path, and everything below it if it is a new folder. */
  refresh(path: string, renames = new CaseRenames(this.#options)): void {
    const above = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    // If a link has replaced a folder, the files behind the link must not appear in the tree, so check the parent
    // first.
    if (above !== '' && this.#options.tree.find(above)?.local?.kind !== 'folder') this.refresh(above, renames)
    else this.#refresh(renames.look(path))
  }

  #refresh({ gone, listed }: ReturnType<CaseRenames['look']>): void {
    for (const node of gone) for (const _ of this.#see(node, node.path, undefined, false));
    for (const path of listed) for (const _ of this.#look(path, false));
  }

  /** Returns the paths in a folder if all are ignored files that are deleted with it (`(?d)`), such as `.DS_Store`. */
  deletableIn(folder: string): readonly string[] {
    const { disk, root, ignores } = this.#options
    const paths = disk.list(placeIn(root, folder)).map(name => joinPath(folder, name))
    const isDeletable = (path: string) => {
      const entry = disk.entry(placeIn(root, path))
      return entry !== undefined && entry !== 'other' && entry.kind === 'file' && ignores.deletable(path)
    }
    return paths.every(isDeletable) ? paths : []
  }

  /** Records the entry of a path that devctl itself has just changed. */
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
      this.#isReading = true
      let looked = 0
      for (const _ of this.#look('', true)) {
        if (++looked % SLICE > 0) continue
        await turn(this.#options.clock)
        if (this.#isClosed) return
      }
      this.#lookAtTop()
      this.#isReading = this.#scanAgain
      this.#lookForRoot()
      this.#options.settled()
    } while (this.#scanAgain && !this.#isClosed)
  }

  /** Finds folders of the root that are gone, because the root may have been emptied while the scan was below them. */
  #lookAtTop(): void {
    for (const { name, local } of [...(this.#options.tree.children?.values() ?? [])])
      if (local?.kind === 'folder' && this.#isGone(name)) for (const _ of this.#look(name, false));
  }

  #isGone(path: string): boolean {
    const { disk, root } = this.#options
    try {
      return disk.entry(placeIn(root, path)) === undefined
    } catch {
      return false
    }
  }

  /**
   * Schedules a scan if the root is missing. The root may reappear, for example after a move or a checkout of another
   * branch.
   */
  #lookForRoot(): void {
    if (this.#options.tree.local || this.#isLookingForRoot) return
    this.#isLookingForRoot = true
    this.#after(ROOT_SCAN, () => {
      this.#isLookingForRoot = false
      void this.scan()
    })
  }

  /**
   * Checks a path. Also checks the paths below it if `isDeep` is true, or if a folder has appeared or disappeared at
   * the path. Yields once for each checked path.
   */
  *#look(path: string, isDeep: boolean): Generator<void> {
    const { tree, root, disk } = this.#options
    yield
    let entry: FileEntry | undefined
    try {
      const found = disk.entry(placeIn(root, path))
      entry = found === 'other' ? undefined : found
      this.#noteLeftOut(path, found)
    } catch (error) {
      // A path that cannot be read keeps its last known state and does not count as deleted.
      this.#options.problem(path, error)
      return
    }
    if (entry && this.#isIgnored(path, entry)) entry = undefined
    const known = tree.find(path)
    if (!entry && !known) return
    yield* this.#see(known ?? tree.at(path), path, entry, isDeep)
  }

  /**
   * Records a path that is skipped, or removes its record. A name that is not UTF-8 is listed with a replacement
   * character; no file can be found under the listed name.
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

  /** Removes the entries of everything in a deleted folder. */
  *#forgetBelow(node: TreeNode, path: string): Generator<void> {
    this.watchers.remove(path)
    this.leftOut.forgetBelow(path)
    for (const child of [...(node.children?.values() ?? [])]) {
      if (!child.local) continue
      yield* this.#see(child, joinPath(path, child.name), undefined, false)
    }
  }

  /** Reads a folder. The watcher is added before the folder is read, so that no event is missed. */
  *#list(node: TreeNode, path: string, isDeep: boolean): Generator<void> {
    if (this.#isWatched) this.watchers.add(path)
    const { disk, root } = this.#options
    let names: readonly string[]
    try {
      names = disk.list(placeIn(root, path))
    } catch (error) {
      // If the folder was deleted since the last check, an event will report it. Folders that cannot be read keep their
      // state.
      if (isMissing(error)) return
      this.#options.problem(path, error)
      return
    }
    const found = new Set(names)
    const renames = new CaseRenames(this.#options)
    this.leftOut.keep(path, found)
    for (const child of [...(node.children?.values() ?? [])])
      if (child.local && !found.has(child.name)) yield* this.#lookForMissing(child, renames, isDeep)
    for (const name of names)
      if (!name.startsWith(TEMPORARY)) yield* this.#look(joinPath(path, name), isDeep)
      else if (this.#isFirstScan) removeLeftover(disk, placeIn(root, joinPath(path, name)), this.#begun)
  }

  /** Checks a path that its folder does not list. */
  *#lookForMissing(child: TreeNode, renames: CaseRenames, isDeep: boolean): Generator<void> {
    const path = child.path
    if (renames.look(path).gone.includes(child)) yield* this.#see(child, path, undefined, false)
    else yield* this.#look(path, isDeep)
  }

  /** Returns true if a path is ignored. Returns false for an ignored folder that may contain included paths. */
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
      this.#isScanDue = true
      this.#after(1000, () => {
        this.#isScanDue = false
        void this.scan()
      })
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

/** Character that replaces bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd'

const isTemporary = (path: string): boolean => path.slice(path.lastIndexOf('/') + 1).startsWith(TEMPORARY)

/**
 * Returns true if a folder was deleted and created again between two checks. Its watcher belongs to the deleted folder.
 */
const isAnotherFolder = (before: FileEntry | undefined, now: FileEntry | undefined): boolean =>
  before?.kind === 'folder' && now?.kind === 'folder' && (before.inode !== now.inode || before.ctime !== now.ctime)
