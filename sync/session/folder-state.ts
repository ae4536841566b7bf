import type { SyncClock } from '../core/clock.ts'
import type { Credit } from '../core/credit.ts'
import { type Agreed, type FileEntry, isUntouched } from '../core/entry.ts'
import type { NameRules } from '../core/paths.ts'
import { RenameCandidates } from '../core/rename-candidates.ts'
import { SkippedPaths } from '../core/skipped-paths.ts'
import { TreeNode } from '../core/tree-node.ts'
import { WorkQueue } from '../core/work-queue.ts'
import type { SyncLink } from '../protocol/link.ts'
import type { Scanner } from '../scan/scanner.ts'
import type { Disk } from '../stage/disk.ts'
import type { SyncProblem } from '../stage/problems.ts'
import type { SavedBase } from '../stage/saved-base.ts'
import type { Trash } from '../stage/trash.ts'
import type { Writer } from '../stage/writer.ts'
import type { ConflictFolder } from './conflicts.ts'

/** Objects and settings that the folders of a session share. */
export interface FolderContext {
  readonly disk: Disk
  readonly clock: SyncClock
  readonly rules: NameRules
  readonly direction: 'both' | 'up'
  readonly compression: boolean
  readonly conflicts: ConflictFolder
  readonly deleted: Trash
  readonly credit: Credit
  /** Connection over which the agent has reported its folders; undefined if not connected. */
  readonly link: SyncLink | undefined
  /** Milliseconds by which the agent's clock is ahead of this machine's. */
  readonly ahead: number
  readonly report: (event: FolderEvent) => void
  /** Called when the sides have agreed on a path, so that the base must be saved. */
  readonly agreed: () => void
  /** Called when there may be nothing left to do. */
  readonly rested: () => void
  /** True if nothing new may be started, because the ignore rules are about to change. */
  readonly isPaused: boolean
  /** Called when a file that the ignore rules are read from may have changed. */
  readonly rulesMayHaveChanged: () => void
}

/** Large file that the container has created and that is about to be downloaded. */
export interface LargeArrival {
  readonly kind: 'large'
  readonly folder: string
  readonly path: string
  readonly size: number
}

/** File written by the container that determines what tools run on this machine. Reported once per path. */
export interface ToolFileArrival {
  readonly kind: 'tool-file'
  readonly folder: string
  readonly path: string
}

/**
 * Number of missing files of a folder, and of all files that both sides had. Files whose versions all came from the
 * container do not count.
 */
export interface LostFiles {
  readonly files: number
  /** Number of files that both sides had. */
  readonly of: number
}

/** Deletion of many files by the container; the files are kept in a folder of the laptop. */
export interface ManyDeleted {
  readonly kind: 'deleted'
  readonly folder: string
  readonly files: number
  /** Absolute path of the folder with the kept files. */
  readonly kept: string
}

export type FolderEvent =
  | { readonly kind: 'problem' | 'solved'; readonly problem: SyncProblem }
  | LargeArrival
  | ToolFileArrival
  | ManyDeleted
  | {
      readonly kind: 'conflict'
      readonly folder: string
      readonly path: string
      readonly kept: string
      readonly time: number
    }
  | {
      readonly kind: 'stopped' | 'continued'
      readonly folder: string
      readonly side: 'local' | 'remote'
      /** Counts of the files that the container has deleted. Absent if all files are missing on `side`. */
      readonly loss?: LostFiles
    }

const RETRY_FIRST = 1_000
const RETRY_LAST = 30_000
/** Maximum length of a path of the container in a message, in characters. */
const LONGEST = 200

/** Access to a folder of this machine: its saved state, its files, and the scanner that reads them. */
export interface LocalSide {
  readonly saved: SavedBase
  readonly writer: Writer
  /** Returns the scanner of the folder, which reports to its state. */
  readonly scannerOf: (state: FolderState) => Scanner
}

/** Paths for which `settled` waits. */
interface SettlingPaths {
  readonly nodes: Set<TreeNode>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Error for a folder that is not synchronized until a question about missing files is answered. */
export class FolderStopped extends Error {
  constructor() {
    super('the synchronization waits for an answer about missing files, which `devctl status` shows')
  }
}

/** State of the paths of a folder: queued, in flight, or waiting. */
export class FolderState {
  readonly name: string
  readonly world: FolderContext
  readonly tree = new TreeNode('')
  readonly queue = new WorkQueue()
  readonly gone = new RenameCandidates()
  /** Paths in flight. The value is true if the path must be checked again afterwards. */
  readonly busy = new Map<TreeNode, boolean>()
  /** Paths that are being deleted in the container (`leaving`), or created there as folders (`arriving`). */
  readonly leaving = new Set<TreeNode>()
  readonly arriving = new Set<TreeNode>()
  /** Folders that are checked again as soon as a path directly in them is finished. */
  readonly deferred = new Set<TreeNode>()
  /** Paths that wait for another path above them. The keys are the paths above. */
  readonly blocked = new Map<TreeNode, Set<TreeNode>>()
  /** Refused paths that are checked again after another path, which has the same name to some file systems. */
  readonly #refused = new Map<TreeNode, Set<TreeNode>>()
  /** Paths in flight that wait for the end of a scan of this machine. */
  readonly #unscanned = new Set<TreeNode>()
  readonly problems = new Map<TreeNode, SyncProblem>()
  /** Paths that only this machine may change, and for which the container has a different version. */
  readonly leftThere = new SkippedPaths()
  readonly #retries = new Map<TreeNode, () => void>()
  readonly #attempts = new Map<TreeNode, number>()
  /**
   * Paths that were in flight when a connection was lost. Their state in the container is requested before any other
   * work.
   */
  readonly uncertain = new Set<TreeNode>()
  /** Folders that are not watched in the container. */
  unwatchedRemote: readonly string[] = []
  /**
   * Entries that were sent to the container and have not been acknowledged. If the acknowledgment is lost, a comparison
   * with the contents in the container shows if the entry has arrived.
   */
  readonly sent = new Map<TreeNode, FileEntry>()
  agreedFiles = 0
  agreedBytes = 0
  /** Number of agreed files that the laptop has created or changed. */
  ownFiles = 0
  /** True once all paths on the laptop have been read. */
  hasLocal = false
  hasRemote = false
  isClosed = false
  readonly live: Scanner
  readonly writer: Writer
  readonly saved: SavedBase
  #watching: SettlingPaths[] = []

  constructor(name: string, world: FolderContext, { saved, writer, scannerOf }: LocalSide) {
    this.name = name
    this.world = world
    this.saved = saved
    this.writer = writer
    this.live = scannerOf(this)
  }

  /** True if both sides have been read. */
  get isScanned(): boolean {
    return this.hasLocal && this.hasRemote
  }

  /** Queues a path to be checked. */
  mark(node: TreeNode): void {
    // The root always exists on both sides.
    if (!node.parent) return
    this.gone.see(node)
    if (this.busy.has(node)) this.busy.set(node, true)
    else this.queue.add(node)
  }

  setBusy(node: TreeNode): void {
    node.isHeld = true
    this.busy.set(node, false)
  }

  /** Checks a path again after the running scan. */
  waitForScan(node: TreeNode): void {
    this.setBusy(node)
    this.#unscanned.add(node)
  }

  /** Continues after changes on this machine were read. */
  scanned(): void {
    if (!this.live.isReading) {
      for (const node of this.#unscanned) this.again(node)
      this.#unscanned.clear()
    }
    this.world.rested()
  }

  isPending(node: TreeNode): boolean {
    return (
      this.busy.has(node) ||
      this.queue.has(node) ||
      this.deferred.has(node) ||
      this.#retries.has(node) ||
      [...this.blocked.values()].some(nodes => nodes.has(node))
    )
  }

  isWaiting(node: TreeNode): boolean {
    return this.#retries.has(node)
  }

  block(by: TreeNode, node: TreeNode): void {
    const nodes = this.blocked.get(by)
    if (nodes) nodes.add(node)
    else this.blocked.set(by, new Set([node]))
  }

  setBase(node: TreeNode, base: Agreed | undefined): void {
    if (!base && !node.base) return
    this.#count(node.base, -1)
    this.#count(base, 1)
    node.base = base
    this.saved.agreed(node)
    this.world.agreed()
  }

  /** Records the local entry that is about to be sent. */
  sends(node: TreeNode, local: FileEntry): void {
    this.sent.set(node, local)
    this.saved.sends(node.path, local)
  }

  /** Adds a loaded base to the counts. */
  count(base: Agreed): void {
    this.#count(base, 1)
  }

  #count(base: Agreed | undefined, sign: 1 | -1): void {
    if (base?.local?.kind !== 'file') return
    this.agreedFiles += sign
    if (!base.isTheirs) this.ownFiles += sign
    this.agreedBytes += sign * base.local.size
  }

  /** Finishes a path: nothing is left to do for it at the moment. */
  finish(node: TreeNode): void {
    const isAgain = this.busy.get(node)
    this.#leave(node)
    this.#cancelRetry(node)
    this.#attempts.delete(node)
    this.sent.delete(node)
    this.#solve(node)
    share(node)
    if (isAgain) this.mark(node)
    this.#release(node)
    if (!isAgain) node.prune()
  }

  #solve(node: TreeNode): void {
    const problem = this.problems.get(node)
    if (!problem) return
    this.problems.delete(node)
    this.world.report({ kind: 'solved', problem })
  }

  /** Stops synchronizing a path; both sides keep their versions. */
  forget(node: TreeNode): void {
    this.#leave(node)
    this.#cancelRetry(node)
    this.#attempts.delete(node)
    this.queue.delete(node)
    this.uncertain.delete(node)
    this.sent.delete(node)
    this.#solve(node)
    if (node.base) this.setBase(node, undefined)
    node.local = undefined
    node.remote = undefined
    this.#release(node)
  }

  /** Puts a path back into the queue immediately. */
  again(node: TreeNode): void {
    this.#leave(node)
    this.mark(node)
  }

  #leave(node: TreeNode): void {
    node.isHeld = false
    this.busy.delete(node)
    this.leaving.delete(node)
    this.arriving.delete(node)
    this.deferred.delete(node)
  }

  /** Continues with the paths that wait for this path. */
  #release(node: TreeNode): void {
    const nodes = this.blocked.get(node)
    this.blocked.delete(node)
    if (nodes) for (const one of nodes) this.mark(one)
    this.#releaseRefused(node)
    this.#releaseParent(node)
    for (const watch of this.#watching) if (watch.nodes.delete(node) && watch.nodes.size === 0) watch.resolve()
  }

  #releaseRefused(node: TreeNode): void {
    const nodes = this.#refused.get(node)
    this.#refused.delete(node)
    if (nodes) for (const one of nodes) this.mark(one)
  }

  #releaseParent(node: TreeNode): void {
    const { parent } = node
    if (parent && this.deferred.delete(parent)) this.mark(parent)
  }

  /** Records that a path cannot be synchronized now: reports the reason once, and retries later. */
  fail(node: TreeNode, side: SyncProblem['side'], message: string): void {
    this.#leave(node)
    const problem = { folder: this.name, path: node.path, side, message }
    if (this.problems.get(node)?.message !== message) this.world.report({ kind: 'problem', problem })
    this.problems.set(node, problem)
    const attempts = this.#attempts.get(node) ?? 0
    this.retry(node, Math.min(RETRY_LAST, RETRY_FIRST * 2 ** attempts))
    for (const watch of this.#watching) if (watch.nodes.delete(node) && watch.nodes.size === 0) watch.resolve()
  }

  /** Records that a path cannot be synchronized until it changes. */
  refuse(node: TreeNode, side: SyncProblem['side'], message: string): void {
    this.fail(node, side, message)
    this.#cancelRetry(node)
    this.#releaseParent(node)
  }

  /**
   * Checks a refused path again after the other path has changed. Unlike a blocked path, a refused path is not pending.
   */
  retryAfter(other: TreeNode, refused: TreeNode): void {
    const nodes = this.#refused.get(other)
    if (nodes) nodes.add(refused)
    else this.#refused.set(other, new Set([refused]))
  }

  /**
   * Skips a path and reports the reason, leaving the container's version unchanged. Without a reason, removes the
   * record of a skipped path.
   */
  leaveThere(node: TreeNode, why: { readonly path: string; readonly message: string } | undefined): void {
    if (why && node.remote) this.tellLeftOut(this.leftThere, why.path, why.message)
    else if (this.leftThere.count > 0) this.leftThere.delete(node.path)
  }

  /** Records a skipped path of the container, and reports it once. */
  tellLeftOut(paths: SkippedPaths, whole: string, message: string): void {
    const path = whole.slice(0, LONGEST)
    if (!paths.add(path, message)) return
    this.world.report({ kind: 'problem', problem: { folder: this.name, path, side: 'remote', message } })
  }

  /** Reports that folders are not watched because a system limit was reached. The callers avoid repeated reports. */
  limited(side: SyncProblem['side'], folder: string, limit: string): void {
    const where = side === 'local' ? 'this machine' : 'its node'
    const message = `the limit \`${limit}\` of ${where} is reached: this folder and others are not watched, and are read every 5 s instead`
    this.world.report({ kind: 'problem', problem: { folder: this.name, path: folder || '.', side, message } })
  }

  /**
   * Records the folders that the agent does not watch. If it watched all folders before, also reports the system limit
   * `limit` that was reached.
   */
  setUnwatchedRemote(folders: readonly string[], limit: string): void {
    const [first] = folders
    if (first !== undefined && limit !== '' && this.unwatchedRemote.length === 0)
      this.limited('remote', first.slice(0, 200), limit.slice(0, 100))
    this.unwatchedRemote = folders
  }

  attempts(node: TreeNode): number {
    return this.#attempts.get(node) ?? 0
  }

  retry(node: TreeNode, milliseconds: number): void {
    this.#leave(node)
    this.queue.delete(node)
    this.#cancelRetry(node)
    this.#attempts.set(node, this.attempts(node) + 1)
    const cancel = this.world.clock.after(milliseconds, () => {
      this.#retries.delete(node)
      this.mark(node)
      this.world.rested()
    })
    this.#retries.set(node, cancel)
  }

  #cancelRetry(node: TreeNode): void {
    this.#retries.get(node)?.()
    this.#retries.delete(node)
  }

  /** Resolves when all paths that are now queued or in flight have been handled once. */
  settled(): Promise<void> {
    const nodes = new Set([...this.queue, ...this.busy.keys(), ...this.deferred])
    if (nodes.size === 0) return Promise.resolve()
    return new Promise<void>((resolve, reject) => void this.#watching.push({ nodes, resolve, reject })).then(() => {
      this.#watching = this.#watching.filter(watch => watch.nodes.size > 0)
    })
  }

  /** Ends the waiting of `settled`, because nothing is synchronized until a question is answered. */
  endSettling(): void {
    for (const { reject } of this.#watching) reject(new FolderStopped())
    this.#watching = []
  }

  close(): void {
    this.isClosed = true
    for (const cancel of this.#retries.values()) cancel()
    this.#retries.clear()
    for (const { resolve } of this.#watching) resolve()
    this.#watching = []
  }
}

/**
 * Replaces the entries of a node with the equal entries of its base. Both then share one object, which saves memory in
 * a large tree.
 */
function share(node: TreeNode): void {
  const { base, local, remote } = node
  if (base?.local && base.local !== local && isSame(local, base.local)) node.local = base.local
  if (base?.remote && base.remote !== remote && isSame(remote, base.remote)) node.remote = base.remote
}

/**
 * Returns true if the base of a file is equal to the entry in all fields. Returns false for other kinds: the base of a
 * folder does not contain the inode.
 */
const isSame = (entry: FileEntry | undefined, base: FileEntry): boolean =>
  base.kind === 'file' &&
  isUntouched(base, entry) &&
  entry?.isOfImage === base.isOfImage &&
  (entry?.hash === undefined || entry.hash === base.hash)
