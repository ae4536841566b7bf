import { isFolder } from '../core/entry.ts'
import type { SkippedPathList } from '../core/skipped-paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { IGNORE_FILE } from '../ignore/default-ignores.ts'
import { ChangingRules } from '../scan/changing-rules.ts'
import { type IgnoreSource, toRules } from '../scan/ignore-source.ts'
import { Scanner } from '../scan/scanner.ts'
import type { LargeFiles } from '../stage/large-files.ts'
import { OnlyHere } from '../stage/only-here.ts'
import { withoutOwnPaths } from '../stage/own-paths.ts'
import { describeError, type SyncProblem } from '../stage/problems.ts'
import { SavedBase } from '../stage/saved-base.ts'
import { Writer } from '../stage/writer.ts'
import { Cycle } from './cycle.ts'
import { type FolderParts, makeFolderParts } from './folder-parts.ts'
import { type FolderContext, FolderState, FolderStopped } from './folder-state.ts'
import { RemoteTree } from './remote-tree.ts'
import { Transition } from './transition.ts'

export interface FolderSyncOptions {
  readonly name: string
  readonly root: string
  readonly ignores: IgnoreSource
  /** Paths that belong only to this machine and are never synchronized. */
  readonly own: readonly string[]
  /** Paths that only this machine may change, in addition to the files that devctl reads by name. */
  readonly onlyHere: readonly string[]
  /** Reads the ignore rules again. Throws an error if the ignore file cannot be read. */
  readonly readIgnores: () => IgnoreSource
  /**
   * True if the folder consists of one file that the container mounts, and that is therefore not deleted while the
   * container runs.
   */
  readonly isMountedFile: boolean
  readonly recursive: boolean
  readonly rescanInterval: number
  /** Path of the file for the agreed state of both sides. */
  readonly baseFile: string
}

/**
 * Sync folder on the laptop: the state of both sides (`state`, `container`), the selection of synchronized paths, and
 * the resulting work.
 */
export class FolderSync {
  readonly name: string
  readonly root: string
  readonly state: FolderState
  readonly container: RemoteTree
  /** Folders that the container itself has created, such as `node_modules`. */
  readonly own = new Set<string>()
  readonly #rules: ChangingRules
  readonly #readIgnores: () => IgnoreSource
  readonly #parts: FolderParts
  readonly #work: Cycle
  /** Reason why the changed ignore rules do not apply. */
  #ignoreProblem: SyncProblem | undefined

  constructor(options: FolderSyncOptions, world: FolderContext) {
    const { name, root, ignores } = options
    this.name = name
    this.root = root
    this.#readIgnores = options.readIgnores
    this.#rules = new ChangingRules(ignores, source =>
      withoutOwnPaths(
        toRules(source, path => this.own.has(path)),
        [IGNORE_FILE, ...options.own],
      ),
    )
    this.state = new FolderState(name, world, {
      saved: new SavedBase(world.disk, options.baseFile, root),
      writer: new Writer({ disk: world.disk, root, write: 'rename' }),
      scannerOf: state => this.#scanner(options, state),
    })
    this.#parts = makeFolderParts(this.state, this.#rules, new OnlyHere(options.onlyHere, world.rules))
    this.#work = new Cycle(this.#parts, new Transition(this.#parts, options))
    this.container = new RemoteTree(this.state, this.#rules, this.#parts.deletions)
  }

  #scanner({ root, recursive, rescanInterval }: FolderSyncOptions, state: FolderState): Scanner {
    const { disk, clock, rules } = state.world
    return new Scanner({
      disk,
      clock,
      rules,
      root,
      tree: state.tree,
      ignores: this.#rules,
      recursive,
      rescanInterval,
      changed: node => state.mark(node),
      heard: path => this.#heard(path),
      settled: () => state.scanned(),
      problem: (path, error) => this.#unreadable(path, error),
      limited: (folder, limit) => state.limited('local', folder, limit),
    })
  }

  async start(): Promise<void> {
    await this.state.live.start()
    this.state.hasLocal = true
    this.state.world.rested()
  }

  /** Handles a path that cannot be read: neither the path nor anything below it counts as deleted. */
  #unreadable(path: string, error: unknown): void {
    const { tree } = this.state
    for (const node of tree.at(path).walk()) node.local ??= node.base?.local
    if (path !== '') this.state.fail(tree.at(path), 'local', describeError(error))
  }

  close(): void {
    this.state.live.close()
    this.state.close()
  }

  // Agreed state

  /** Loads the agreed state of an earlier session with that volume. */
  load(volume: string): void {
    const { state } = this
    const found = state.saved.load(volume, state.tree)
    if (!found) return
    for (const { base } of state.tree.walk()) if (base) state.count(base)
    for (const [path, entry] of found.sent) state.sent.set(state.tree.at(path), entry)
    this.setOwn(found.own)
    // The entries of the journal are saved together with the base.
    if (this.journalSize > 0) state.world.agreed()
  }

  get journalSize(): number {
    return this.state.saved.size
  }

  save(): Promise<void> {
    return this.state.saved.save(this.state.tree, this.own, this.state.sent)
  }

  /** Forgets the agreed state of both sides, and the state of the container. */
  forget(): void {
    for (const node of [...this.state.tree.walk()]) {
      if (node.base) this.state.setBase(node, undefined)
      node.remote = undefined
      this.#parts.conflicts.forget(node)
    }
  }

  // Selection of paths

  /** Stops synchronizing folders that the container itself has created. Their contents stay unchanged on both sides. */
  setOwn(paths: readonly string[]): void {
    for (const path of paths) {
      if (this.own.has(path)) continue
      this.own.add(path)
      const top = this.state.tree.find(path)
      if (top) this.#leaveOut(top)
    }
  }

  /** Stops synchronizing a path and everything below it. */
  #leaveOut(top: TreeNode): void {
    const { conflicts, decisions } = this.#parts
    for (const node of [...top.walk()]) {
      if (isFolder(node.local)) this.state.live.watchers.remove(node.path)
      conflicts.forget(node)
      decisions.forget(node)
      this.state.forget(node)
    }
    top.parent?.children?.delete(top.name)
  }

  get ignores(): IgnoreSource {
    return this.#rules.source
  }

  #heard(path: string): void {
    if (this.#rules.areFrom(path)) this.state.world.rulesMayHaveChanged()
  }

  /**
   * Returns the current rules if they have changed. Returns undefined if they have not, or if the files cannot be read
   * or have mistakes, which is reported; the earlier rules then still apply.
   */
  newIgnores(): IgnoreSource | undefined {
    try {
      const source = this.#readIgnores()
      this.#solveIgnores()
      return JSON.stringify(source) === JSON.stringify(this.ignores) ? undefined : source
    } catch (error) {
      this.#failIgnores(error)
      return undefined
    }
  }

  #failIgnores(error: unknown): void {
    const message = `${describeError(error)}; the earlier patterns still apply`
    if (this.#ignoreProblem?.message === message) return
    this.#ignoreProblem = { folder: this.name, path: IGNORE_FILE, side: 'local', message }
    this.state.world.report({ kind: 'problem', problem: this.#ignoreProblem })
  }

  #solveIgnores(): void {
    const problem = this.#ignoreProblem
    this.#ignoreProblem = undefined
    if (problem) this.state.world.report({ kind: 'solved', problem })
  }

  /** Paths that cannot be synchronized at the moment, and mistakes in the ignore file. */
  get problems(): readonly SyncProblem[] {
    return [...(this.#ignoreProblem ? [this.#ignoreProblem] : []), ...this.state.problems.values()]
  }

  /**
   * Switches to other ignore rules. Newly ignored paths stay unchanged on both sides; newly included paths are merged
   * as if they had just appeared.
   */
  setIgnores(source: IgnoreSource): void {
    const { state } = this
    this.#rules.source = source
    this.#leaveOutIgnored(state.tree)
    state.live.leftOut.forgetBelow('')
    this.container.forgetRefused()
    state.hasLocal = false
    void state.live.scan().then(() => {
      state.hasLocal = true
      state.world.rested()
    })
  }

  #leaveOutIgnored(folder: TreeNode): void {
    for (const node of [...(folder.children?.values() ?? [])]) {
      const entry = node.local ?? node.remote ?? node.base?.local ?? node.base?.remote
      if (this.#rules.leavesOut(node.path, isFolder(entry) || node.children !== undefined)) this.#leaveOut(node)
      else this.#leaveOutIgnored(node)
    }
  }

  /** Returns the paths on both sides that cannot be synchronized regardless of the settings. */
  leftOut(): SkippedPathList {
    const here = this.state.live.leftOut
    const there = this.container.leftOut
    const toPath =
      (side: 'local' | 'remote') =>
      ([path, message]: readonly [string, string]) => ({ folder: this.name, path, side, message })
    return {
      count: here.count + there.count,
      paths: [...here.first().map(toPath('local')), ...there.paths.map(toPath('remote'))],
    }
  }

  // Work

  /** True if nothing is left to do, and nothing is pending. */
  get isIdle(): boolean {
    const { isScanned, queue, live, uncertain } = this.state
    return isScanned && this.isStill && queue.size === 0 && uncertain.size === 0 && live.isQuiet
  }

  /** True if nothing is in flight and no question to the user is open, so that the rules can change. */
  get isStill(): boolean {
    return !this.stopped && this.state.busy.size === 0 && this.#work.isResting
  }

  /**
   * Side that has lost files. Nothing happens until the user confirms that the loss was intended, or the files are
   * restored.
   */
  get stopped(): 'local' | 'remote' | undefined {
    return this.#parts.losses.stopped
  }

  /** Resumes with the user's answer whether a loss was intended (`delete`) or not (`restore`). */
  answer(meaning: 'delete' | 'restore'): void {
    this.#parts.losses.answer(meaning)
  }

  /** Does all the work that is possible now. Returns when the remaining paths have to wait. */
  work(): Promise<void> {
    return this.#work.run()
  }

  /** Large file that is being transferred. */
  get current(): LargeFiles['current'] {
    return this.#parts.large.current
  }

  /**
   * Resolves when all changes so far on this machine have been handled. `work` starts the handling of queued paths.
   * Rejects if the folder waits for an answer to a question.
   */
  async settled(work: () => void): Promise<void> {
    await this.state.live.caughtUp()
    work()
    if (this.stopped) throw new FolderStopped()
    await this.state.settled()
  }

  /** Handles the end of the connection: paths in flight are checked again. */
  cut(): void {
    this.#parts.deletions.drop()
    this.#parts.remote.drop()
  }
}
