import { ChangingRules } from './changing-rules.ts'
import { turn } from './clock.ts'
import { IGNORE_FILE } from './default-ignores.ts'
import { Deletions } from './deletions.ts'
import { copyEntry, decodeEntry, type FileEntry, isFolder, isUntouched } from './entry.ts'
import { FolderState, type FolderWorld, type LostFiles } from './folder-state.ts'
import { spaceProblem } from './free-space.ts'
import { hashAtRest, hashOf } from './hash.ts'
import { type IgnoreSource, toRules } from './ignore-source.ts'
import { LargeFiles } from './large-files.ts'
import { type LeftOut, LeftOutPaths, readLeftOut } from './left-out.ts'
import { LiveTree } from './live-tree.ts'
import { LocalSteps } from './local-steps.ts'
import { type Decision, merge, onlyFromLaptop } from './merge.ts'
import { withoutOwnPaths } from './own-paths.ts'
import { pathProblem, refusedPart } from './paths.ts'
import { describeError, isFull } from './problems.ts'
import { readSmall } from './reader.ts'
import { RemoteSteps, type WantedFile } from './remote-steps.ts'
import { SavedBase } from './saved-base.ts'
import type { TreeNode } from './tree-node.ts'
import { SMALL_FILE, Writer } from './writer.ts'

export interface FolderSyncOptions {
  readonly name: string
  readonly root: string
  readonly ignores: IgnoreSource
  /** Paths that only belong to this machine. */
  readonly own: readonly string[]
  /** Reads them again. Throws what reading the ignore file throws. */
  readonly readIgnores: () => IgnoreSource
  /** The folder is about one file, which stays in the container as long as that runs. */
  readonly isMountedFile: boolean
  readonly recursive: boolean
  readonly rescanInterval: number
  /** The file for what both sides have agreed on. */
  readonly baseFile: string
}

/** A sync folder on the laptop: plans what happens to each path that has changed on either side, and does it. */
export class FolderSync {
  readonly name: string
  readonly root: string
  readonly state: FolderState
  /** Folders that are the container's own, such as `node_modules`. */
  readonly own = new Set<string>()
  /** One side has lost everything: nothing is done until somebody says whether that was meant. */
  stopped: 'local' | 'remote' | undefined
  readonly #rules: ChangingRules
  readonly #readIgnores: () => IgnoreSource
  readonly #local: LocalSteps
  readonly #remote: RemoteSteps
  readonly #deletions: Deletions
  readonly large: LargeFiles
  readonly #kept = new Map<TreeNode, FileEntry>()
  /** Paths where the laptop wins although only the container has changed them: something below has changed here. */
  readonly #insisting = new Set<TreeNode>()
  /** What the container has, and cannot be on this machine. */
  readonly #refused = new LeftOutPaths()
  /** What the agent leaves out. */
  #leftOutThere: { readonly count: number; readonly paths: readonly (readonly [string, string])[] } = {
    count: 0,
    paths: [],
  }
  #hasLocal = false
  #hasRemote = false
  #mayBeEmpty = false
  #isWorking = false
  readonly #isMountedFile: boolean
  /** Large files that were told of. */
  readonly #announced = new Set<string>()

  constructor(options: FolderSyncOptions, world: FolderWorld) {
    this.#isMountedFile = options.isMountedFile
    const { name, root, ignores } = options
    this.name = name
    this.root = root
    this.#readIgnores = options.readIgnores
    this.state = new FolderState(name, world)
    this.#rules = new ChangingRules(ignores, source =>
      withoutOwnPaths(
        toRules(source, path => this.own.has(path)),
        [IGNORE_FILE, ...options.own],
      ),
    )
    this.state.saved = new SavedBase(world.disk, options.baseFile, root)
    this.state.writer = new Writer({ disk: world.disk, root, write: 'rename' })
    this.state.live = new LiveTree({
      disk: world.disk,
      clock: world.clock,
      root,
      tree: this.state.tree,
      ignores: this.#rules,
      recursive: options.recursive,
      rescanInterval: options.rescanInterval,
      changed: node => this.state.mark(node),
      heard: path => this.#heard(path),
      settled: () => this.state.world.rested(),
      problem: (path, error) => this.#unreadable(path, error),
      limited: (folder, limit) => this.state.limited('local', folder, limit),
    })
    this.#local = new LocalSteps(this.state)
    this.#remote = new RemoteSteps(this.state)
    this.large = new LargeFiles(this.state, this.#local, this.#remote)
    this.#deletions = new Deletions(this.state)
    this.#deletions.onLoss = loss => this.#stop('remote', loss)
    this.#remote.onContents = (wanted, bytes, hash) => this.#contents(wanted, bytes, hash)
    this.large.isWanted = node => this.#decide(node)?.do === 'fetch' && this.#hasPlace(node)
    this.large.onKept = (node, remote, place) => this.#wasKept(node, remote, place)
  }

  async start(): Promise<void> {
    await this.state.live.start()
    this.#hasLocal = true
    this.state.world.rested()
  }

  /** What cannot be read is not deleted. */
  #unreadable(path: string, error: unknown): void {
    const { tree } = this.state
    for (const node of tree.at(path).walk()) node.local ??= node.base?.local
    if (path !== '') this.state.fail(tree.at(path), 'local', describeError(error))
  }

  close(): void {
    this.state.live.close()
    this.state.close()
  }

  /** Forgets what both sides have agreed on, and what is in the container. */
  forget(): void {
    for (const node of [...this.state.tree.walk()]) {
      if (node.base) this.state.setBase(node, undefined)
      node.remote = undefined
      this.#kept.delete(node)
    }
  }

  // What the container has

  /** Everything that is in the container follows. */
  beginSnapshot(): void {
    for (const node of [...this.state.tree.walk()]) node.remote = undefined
    this.#hasRemote = false
  }

  /** Below these paths nothing could be read: there, what was agreed on still holds. */
  unreadableRemote(paths: readonly string[]): void {
    for (const path of paths)
      for (const node of this.state.tree.find(path)?.walk() ?? []) node.remote ??= node.base?.remote
  }

  endSnapshot(): void {
    this.#hasRemote = true
    for (const node of this.state.tree.walk()) {
      const { base, local, remote } = node
      const isSettled = base && isUntouched(base.local, local) && isUntouched(base.remote, remote)
      if (node.parent && !isSettled) this.state.mark(node)
      if (base && isSettled) this.#count(node)
    }
  }

  #count(node: TreeNode): void {
    // The hashes come with the base.
    if (node.base?.local) node.local = node.base.local
    if (node.base?.remote && !node.remote?.isOfImage) node.remote = node.base.remote
  }

  /** What the agent says about some paths. It may be hostile: what cannot be here is reported and left out. */
  setRemote(entries: readonly unknown[], isSnapshot: boolean): void {
    for (const value of entries) {
      const [path, wire] = value as readonly [unknown, unknown]
      if (typeof path !== 'string') throw new Error('a path is not a text')
      const entry = decodeEntry(wire)
      const problem = pathProblem(path, this.state.world.rules)
      if (problem) this.#refusePath(path, entry, problem)
      else if (!this.#rules.leavesOut(path, isFolder(entry))) this.#setRemote(path, entry, isSnapshot)
    }
  }

  /** A problem is told once of `.git`, not of all that is in it. What came from here stays as it is known. */
  #refusePath(whole: string, entry: FileEntry | undefined, message: string): void {
    const node = this.state.tree.find(whole)
    if (node?.base?.remote && isUntouched(node.base.remote, entry)) {
      node.remote = entry
      return
    }
    const path = refusedPart(whole, this.state.world.rules).slice(0, 200)
    if (!entry) {
      if (path === whole) this.#refused.delete(path)
      return
    }
    const before = this.#refused.count
    this.#refused.add(path, message)
    if (this.#refused.count === before) return
    const problem = { folder: this.name, path, side: 'remote', message } as const
    this.state.world.report({ kind: 'problem', problem })
  }

  /** What is on either side, and is not synchronized whatever anybody does. */
  leftOut(): LeftOut {
    const { live } = this.state
    const there = this.#leftOutThere
    const toPath =
      (side: 'local' | 'remote') =>
      ([path, message]: readonly [string, string]) => ({
        folder: this.name,
        path,
        side,
        message,
      })
    return {
      count: live.leftOut.count + there.count + this.#refused.count,
      paths: [
        ...live.leftOut.first().map(toPath('local')),
        ...[...there.paths, ...this.#refused.first()].map(toPath('remote')),
      ],
    }
  }

  /** The agent tells what it leaves out. */
  setLeftOut(count: number, paths: readonly unknown[]): void {
    this.#leftOutThere = { count, paths: readLeftOut(paths) }
  }

  #setRemote(path: string, entry: FileEntry | undefined, isSnapshot: boolean): void {
    const node = entry ? this.state.tree.at(path) : this.state.tree.find(path)
    if (!node) return
    if (!isFolder(entry) && node.children)
      for (const below of node.walk())
        if (below !== node && below.remote) {
          below.remote = undefined
          this.state.mark(below)
        }
    if (!isUntouched(node.remote, entry)) node.remote = entry
    if (entry) {
      this.#deletions.wait()
      this.#deletions.letGo(node)
    }
    if (!isSnapshot) this.state.mark(node)
  }

  /** Folders that the container has made for itself are not synchronized: forgotten, not deleted. */
  setOwn(paths: readonly string[]): void {
    for (const path of paths) {
      if (this.own.has(path)) continue
      this.own.add(path)
      const top = this.state.tree.find(path)
      if (top) this.#forget(top)
    }
  }

  /** From here on nothing is synchronized. */
  #forget(top: TreeNode): void {
    for (const node of [...top.walk()]) {
      if (isFolder(node.local)) this.state.live.watchers.remove(node.path)
      this.#kept.delete(node)
      this.#insisting.delete(node)
      this.state.forget(node)
    }
    top.parent?.children?.delete(top.name)
  }

  // Ignore rules

  get ignores(): IgnoreSource {
    return this.#rules.source
  }

  #heard(path: string): void {
    if (this.#rules.areFrom(path)) this.state.world.rulesMayHaveChanged()
  }

  /** The rules as their files have them now, if they are others; not while those cannot be read. */
  newIgnores(): IgnoreSource | undefined {
    try {
      const source = this.#readIgnores()
      return JSON.stringify(source) === JSON.stringify(this.ignores) ? undefined : source
    } catch {
      return undefined
    }
  }

  /** Nothing is on its way, and nobody is asked: the rules can change. */
  get isStill(): boolean {
    return !this.stopped && this.state.busy.size === 0 && this.#remote.isEmpty && !this.#isWorking
  }

  /** What they leave out now stays as it is on both sides; the rest is merged as if it had just come. */
  setIgnores(source: IgnoreSource): void {
    this.#rules.source = source
    this.#forgetIgnored(this.state.tree)
    this.state.live.leftOut.forgetBelow('')
    this.#refused.forgetBelow('')
    this.#hasLocal = false
    void this.state.live.scan().then(() => {
      this.#hasLocal = true
      this.state.world.rested()
    })
  }

  #forgetIgnored(folder: TreeNode): void {
    for (const node of [...(folder.children?.values() ?? [])]) {
      const entry = node.local ?? node.remote ?? node.base?.local ?? node.base?.remote
      if (this.#rules.leavesOut(node.path, isFolder(entry) || node.children !== undefined)) this.#forget(node)
      else this.#forgetIgnored(node)
    }
  }

  /** The connection has ended: what was on its way will be looked at again. */
  cut(): void {
    this.#deletions.drop()
    this.#remote.drop()
  }

  // Work

  get isIdle(): boolean {
    const { queue, busy, live, uncertain } = this.state
    return (
      this.#hasLocal &&
      this.#hasRemote &&
      !this.stopped &&
      queue.size === 0 &&
      busy.size === 0 &&
      uncertain.size === 0 &&
      live.isQuiet &&
      this.#remote.isEmpty &&
      !this.#isWorking
    )
  }

  /** Both sides have been read. */
  get isScanned(): boolean {
    return this.#hasLocal && this.#hasRemote
  }

  /** How many files the sides do not agree on yet, and their bytes. */
  left(): { readonly files: number; readonly bytes: number } {
    const { queue, busy, deferred, problems } = this.state
    let files = 0
    let bytes = 0
    const count = ({ local, remote }: TreeNode) => {
      if (local?.kind !== 'file' && remote?.kind !== 'file') return
      files++
      bytes += Math.max(local?.size ?? 0, remote?.size ?? 0)
    }
    for (const node of queue) count(node)
    for (const node of busy.keys()) count(node)
    for (const node of deferred) if (!queue.has(node) && !busy.has(node)) count(node)
    // They follow as soon as there is room.
    for (const [node, { message }] of problems)
      if (isFull(message) && !queue.has(node) && !busy.has(node) && !deferred.has(node)) count(node)
    return { files, bytes }
  }

  /** Takes up what an earlier session has agreed on with that volume. */
  load(volume: string): void {
    const { state } = this
    const found = state.saved.load(volume, state.tree)
    if (!found) return
    for (const { base } of state.tree.walk()) if (base) state.count(base)
    for (const [path, entry] of found.sent) state.sent.set(state.tree.at(path), entry)
    this.setOwn(found.own)
    // What the journal has is saved with the rest.
    if (this.journalSize > 0) state.world.agreed()
  }

  get journalSize(): number {
    return this.state.saved.size
  }

  save(): Promise<void> {
    return this.state.saved.save(this.state.tree, this.own, this.state.sent)
  }

  /** Resolves when everything that has happened here until now has been done. */
  async settled(work: () => void): Promise<void> {
    const { clock } = this.state.world
    // What the system has not told yet; if we were held up, it tells after the timers.
    await new Promise<void>(resolve => void clock.after(10, resolve))
    await turn(clock)
    this.state.live.flush()
    work()
    await this.state.settled()
  }

  /** Says whether it was meant that one side has lost everything. */
  answer(meaning: 'delete' | 'restore'): void {
    if (!this.stopped) return
    const side = this.stopped
    this.stopped = undefined
    this.#mayBeEmpty = meaning === 'delete'
    this.#deletions.forget()
    if (meaning === 'delete') this.#deletions.release()
    else {
      this.#deletions.drop()
      for (const node of [...this.state.tree.walk()]) {
        if (node.base && !node[side]) this.state.setBase(node, undefined)
        // What came from the image is wanted, too: this side has lost it.
        if (side === 'local' && node.remote?.isOfImage && !node.local)
          node.remote = copyEntry(node.remote, { isOfImage: false })
        if (node.parent) this.state.mark(node)
      }
    }
    this.state.world.report({ kind: 'continued', folder: this.name, side })
    this.state.world.rested()
  }

  /** Does what there is to do; returns when the rest waits for somebody. */
  async work(): Promise<void> {
    if (this.#isWorking) return
    this.#isWorking = true
    try {
      await this.#work()
    } finally {
      this.#isWorking = false
    }
  }

  get #canWork(): boolean {
    return (
      this.#hasLocal &&
      this.#hasRemote &&
      !this.stopped &&
      !this.state.isClosed &&
      !this.state.world.isPaused &&
      this.state.world.link !== undefined
    )
  }

  async #work(): Promise<void> {
    this.#continueIfFilled()
    while (this.#canWork && (this.state.queue.size > 0 || this.state.uncertain.size > 0)) {
      if (this.state.uncertain.size > 0) {
        await this.#askAgain()
        continue
      }
      this.#local.begin()
      for (let steps = 0; steps < 256 && !this.#remote.isFull && !this.stopped; steps++) {
        const node = this.state.queue.take()
        if (!node) break
        this.step(node)
      }
      await this.#flush()
    }
    if (!this.isQuiet) return
    this.#mayBeEmpty = false
    this.state.gone.forget()
  }

  private get isQuiet(): boolean {
    return this.state.queue.size === 0 && this.state.busy.size === 0
  }

  async #flush(): Promise<void> {
    const { world } = this.state
    if (!this.#remote.isEmpty) {
      await world.credit.room()
      const { link } = world
      if (link) this.#remote.send(link)
      else this.#remote.drop()
      await link?.connection.drained()
    }
    if (this.state.queue.size > 0) await turn(world.clock)
  }

  async #askAgain(): Promise<void> {
    const { uncertain, world } = this.state
    const nodes = [...uncertain].slice(0, 1_000)
    for (const node of nodes) uncertain.delete(node)
    try {
      if (world.link) await this.#remote.stat(world.link, nodes)
    } catch {
      for (const node of nodes) uncertain.add(node)
      await turn(world.clock)
    }
  }

  /** Looks at one path. */
  step(node: TreeNode): void {
    const { state } = this
    if (state.busy.has(node)) {
      state.mark(node)
      return
    }
    state.queue.delete(node)
    state.deferred.delete(node)
    const decision = this.#decide(node)
    if (decision) this.#do(node, decision)
  }

  #decide(node: TreeNode): Decision | undefined {
    if (this.state.sent.has(node) && this.#isUnknown(node)) return { do: 'hash', local: false, remote: true }
    const blocker = node.local || !node.remote ? undefined : fileAbove(node)
    if (blocker) {
      const above = this.#merge(blocker, false).do
      if (above === 'nothing' && this.state.world.direction === 'up') return { do: 'nothing' }
      if (this.state.busy.has(blocker) || above === 'fetch' || above === 'hash') {
        this.state.block(blocker, node)
        if (!this.state.busy.has(blocker) && !this.state.isWaiting(blocker)) this.state.mark(blocker)
        return undefined
      }
    }
    const merged = this.#merge(node, blocker !== undefined)
    // What is left out is for this machine to say.
    const decision =
      this.#rules.includes.size > 0 && this.#rules.includes.has(node.path) ? onlyFromLaptop(merged, node) : merged
    if (CHANGES_LAPTOP.has(decision.do) && pathProblem(node.path, this.state.world.rules)) return { do: 'nothing' }
    if (!this.#insisting.has(node) || decision.do !== 'fetch') return decision
    const { base, remote } = node
    return { do: 'send', keep: !isFolder(remote) && !remote!.isOfImage && !isUntouched(base?.remote, remote) }
  }

  /** Whether contents tell if what we have sent has arrived. If it has, that is what both sides had. */
  #isUnknown(node: TreeNode): boolean {
    const { remote } = node
    const sent = this.state.sent.get(node)!
    if (remote?.kind === 'file' && remote.size === sent.size && remote.size > 0 && !remote.hash) return true
    this.state.sent.delete(node)
    if (remote?.kind === sent.kind && remote.hash === sent.hash && remote.target === sent.target)
      this.state.setBase(node, { local: sent, remote })
    return false
  }

  #merge({ base, local, remote }: TreeNode, isBelowFile: boolean): Decision {
    return merge({ base, local, remote, isBelowFile, direction: this.state.world.direction })
  }

  #do(node: TreeNode, decision: Decision): void {
    const { state } = this
    if (decision.do !== 'remove-local') this.#deletions.letGo(node)
    switch (decision.do) {
      case 'nothing':
        this.#finish(node)
        return
      case 'agree':
        state.setBase(node, agreed(node))
        this.#finish(node)
        return
      case 'forget':
        state.setBase(node, undefined)
        this.#finish(node)
        return
      case 'hash':
        this.#hash(node, decision.local, decision.remote)
        return
      case 'send':
        if (decision.keep && !this.#isKept(node)) {
          this.#keep(node)
          return
        }
        this.#send(node)
        return
      case 'remove-remote':
        if (this.#isEmptied()) {
          state.mark(node)
          this.#stop('local')
          return
        }
        if (this.#isMountedFile) {
          this.#stay(node)
          return
        }
        if (decision.keep && !this.#isKept(node)) {
          this.#keep(node)
          return
        }
        if (!this.large.needs(node)) this.#removeRemote(node)
        return
      case 'send-meta':
        this.#sendMeta(node)
        return
      case 'fetch-meta':
        this.#local.setMode(node)
        return
      case 'fetch':
        this.#fetch(node)
        return
      case 'remove-local':
        if (!this.large.needs(node) && (this.#mayBeEmpty || !this.#deletions.holds(node))) this.#removeLocal(node)
        return
    }
  }

  #finish(node: TreeNode): void {
    this.#insisting.delete(node)
    this.#kept.delete(node)
    this.state.finish(node)
  }

  // To the container

  #send(node: TreeNode): void {
    const { local, remote } = node
    if (!local) {
      this.state.again(node)
      return
    }
    if (!this.#hasRemoteParent(node)) return
    if (isFolder(remote) && !isFolder(local) && !this.#clear(node, 'remote')) return
    if (local.kind === 'folder') this.#remote.change(node, { kind: 'folder' })
    else if (local.kind === 'link') this.#remote.change(node, { kind: 'link', target: local.target! })
    else if (local.size > SMALL_FILE) this.large.add(node, 'send')
    else this.#sendFile(node)
  }

  #sendFile(node: TreeNode): void {
    const read = this.#read(node)
    if (!read) return
    const { mtime, executable } = read.entry
    const meta = { mtime: mtime + this.state.world.ahead, ...(executable !== undefined && { executable }) }
    const source = this.#movedFrom(node, read.entry)
    if (source)
      this.#remote.change(node, { kind: 'move', from: source.path, moved: source.remote, ...meta }, read.entry)
    else this.#remote.change(node, { kind: 'file', bytes: read.bytes, ...meta }, read.entry)
  }

  /** The file of the container that was renamed here. One that is there is written as every other: its watchers see it. */
  #movedFrom(node: TreeNode, { size, hash = '' }: FileEntry): TreeNode | undefined {
    const { gone, leaving } = this.state
    const source = node.remote || this.state.attempts(node) > 0 ? undefined : gone.inContainer(size, hash)
    return source && source !== node && !leaving.has(source) ? source : undefined
  }

  /** Reads a small file; undefined if that is not possible now. Then the path is dealt with. */
  #read(node: TreeNode): { readonly entry: FileEntry; readonly bytes: Buffer } | undefined {
    const { state } = this
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
      // A file that is always being written is sent once a second, as it is then.
      state.retry(node, state.attempts(node) < 3 ? 50 : 1_000)
    } catch (error) {
      const before = node.local
      state.live.refresh(path)
      // It has gone or become something else, or it cannot be read.
      if (isUntouched(before, node.local)) state.fail(node, 'local', describeError(error))
      else state.again(node)
    }
    return undefined
  }

  /** False if the folder above is not there yet; the path then waits for it. */
  #hasRemoteParent(node: TreeNode): boolean {
    const parent = node.parent!
    const { state } = this
    if (!parent.parent || isFolder(parent.remote) || state.arriving.has(parent)) return true
    if (state.isWaiting(parent) || state.busy.has(parent)) {
      state.block(parent, node)
      return false
    }
    if (parent.remote || !isFolder(parent.local)) {
      this.#insisting.add(parent)
      state.block(parent, node)
      state.mark(parent)
      return false
    }
    if (!this.#hasRemoteParent(parent)) {
      state.block(parent, node)
      return false
    }
    state.queue.delete(parent)
    this.#remote.change(parent, { kind: 'folder' })
    return true
  }

  #sendMeta(node: TreeNode): void {
    const { mtime, executable } = node.local!
    const hash = node.local!.hash ?? node.base?.local?.hash
    if (hash) node.local = copyEntry(node.local!, { hash })
    const bit = executable === undefined ? {} : { executable }
    const isNew = node.base?.local?.mtime !== mtime && node.base !== undefined
    this.#remote.change(node, { kind: 'meta', ...(isNew && { mtime: mtime + this.state.world.ahead }), ...bit })
  }

  /** Editors that rename delete the file for a moment; after that it is reported. */
  #stay(node: TreeNode): void {
    if (this.state.attempts(node) === 0) this.state.retry(node, STAYING)
    else this.state.fail(node, 'local', 'the file has gone here; the container has it mounted and keeps it')
  }

  #removeRemote(node: TreeNode): void {
    if (isFolder(node.remote) && !this.#clear(node, 'remote')) return
    if (!node.remote) {
      this.state.again(node)
      return
    }
    this.#remote.change(node, { kind: 'remove' })
  }

  /**
   * Lets everything in a folder be deleted on one side, in the same batch. False if something stays: then the folder
   * waits for it, or stays, too.
   */
  #clear(node: TreeNode, side: 'local' | 'remote'): boolean {
    const { state } = this
    const isThere = (child: TreeNode) =>
      side === 'local' ? child.local !== undefined : child.remote !== undefined && !state.leaving.has(child)
    const children = () => [...(node.children?.values() ?? [])].filter(isThere)
    for (const child of children()) if (!state.busy.has(child)) this.step(child)
    if (this.stopped) {
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
    const { state } = this
    if (node.local && node.remote) {
      state.fail(node, side, 'the folder in its place is not empty')
      return
    }
    // On this side only, with files of the image or files that are ignored.
    const other = [...(node.children?.values() ?? [])].every(
      child => child.base?.local === undefined || child.base.remote === undefined,
    )
    state.setBase(node, other ? { local: node.local, remote: node.remote } : undefined)
    if (other) this.#finish(node)
    else state.again(node)
  }

  // To the laptop

  #fetch(node: TreeNode): void {
    const remote = node.remote!
    const refusal = this.#local.refusal(node)
    if (refusal) {
      this.state.refuse(node, 'remote', refusal)
      return
    }
    if (isFolder(node.local) && !isFolder(remote) && !this.#clear(node, 'local')) return
    if (!this.#hasPlace(node)) return
    if (remote.kind === 'folder') {
      if (this.#local.makeFolder(node)) this.#finish(node)
    } else if (remote.kind === 'link') this.#local.makeLink(node)
    else if (remote.size > SMALL_FILE) {
      this.#announce(node, remote)
      this.large.add(node, 'fetch')
    } else if (!this.#fetchRenamed(node, remote)) {
      const full = spaceProblem(this.state.world.disk, this.root, remote.size)
      if (full) this.state.fail(node, 'local', full)
      else this.#remote.read({ node, remote, keep: false })
    }
  }

  /** Whoever does not want it here has the time to say so. */
  #announce({ path, base }: TreeNode, { size }: FileEntry): void {
    if (size < LARGE || base || this.#announced.has(path)) return
    this.#announced.add(path)
    this.state.world.report({ kind: 'large', folder: this.name, path, size })
  }

  /** Takes the contents of a file that the container has renamed from where it was. False if it was not. */
  #fetchRenamed(node: TreeNode, remote: FileEntry): boolean {
    const { gone, world, writer } = this.state
    const source = remote.size > 0 && this.state.attempts(node) === 0 ? gone.here(remote) : undefined
    if (!source) return false
    if (remote.hash === undefined) {
      this.#remote.hash(node)
      return true
    }
    try {
      const read = readSmall(world.disk, writer.place(source.path), SMALL_FILE)
      if (read.kind !== 'read' || hashOf(read.bytes) !== remote.hash) return false
      this.#contents({ node, remote, keep: false }, read.bytes, remote.hash)
      return true
    } catch {
      return false
    }
  }

  #contents({ node, remote, keep }: WantedFile, bytes: Buffer, hash: string): void {
    if (keep) {
      this.#keepBytes(node, remote, bytes)
      return
    }
    if (!isUntouched(remote, node.remote)) {
      this.state.again(node)
      return
    }
    node.remote = copyEntry(remote, { hash })
    this.#local.begin()
    // By its contents it may be as it was, or the laptop's may have changed meanwhile.
    if (this.#decide(node)?.do !== 'fetch') {
      this.state.again(node)
      return
    }
    const isClear = !isFolder(node.local) || this.#clear(node, 'local')
    if (isClear && this.#hasPlace(node)) this.#local.writeFile(node, bytes, node.remote)
    else if (this.state.busy.has(node)) this.state.again(node)
  }

  /** Makes the folders above. False if something has been found in its place meanwhile; that is looked at again. */
  #hasPlace(node: TreeNode): boolean {
    const { local } = node
    if (!this.#local.makeParents(node)) return false
    if (node.local === local) return true
    this.state.again(node)
    return false
  }

  #removeLocal(node: TreeNode): void {
    if (isFolder(node.local) && !this.#clear(node, 'local')) return
    this.#deletions.made(node)
    this.#local.remove(node)
  }

  // Contents

  #hash(node: TreeNode, local: boolean, remote: boolean): void {
    if (local && node.local?.kind === 'file') {
      if (node.local.size > SMALL_FILE) {
        this.state.setBusy(node)
        void this.#hashLarge(node)
        return
      }
      if (!this.#read(node)) return
    }
    if (remote) this.#remote.hash(node)
    else this.state.again(node)
  }

  async #hashLarge(node: TreeNode): Promise<void> {
    const { disk, clock } = this.state.world
    const path = node.path
    try {
      const read = await hashAtRest(disk, clock, this.state.writer.place(path))
      if (read && isUntouched(node.local, read)) node.local = copyEntry(node.local!, { hash: read.hash })
      else this.state.live.refresh(path)
      this.state.again(node)
    } catch (error) {
      this.state.live.refresh(path)
      this.state.fail(node, 'local', describeError(error))
    }
    this.state.world.rested()
  }

  // Conflicts

  #isKept(node: TreeNode): boolean {
    const kept = this.#kept.get(node)
    return kept !== undefined && isUntouched(kept, node.remote)
  }

  #keep(node: TreeNode): void {
    const remote = node.remote!
    if (remote.kind === 'link') this.#keepBytes(node, remote, Buffer.from(remote.target ?? ''))
    else if (remote.size > SMALL_FILE) this.large.add(node, 'keep')
    else this.#remote.read({ node, remote, keep: true })
  }

  #keepBytes(node: TreeNode, remote: FileEntry, bytes: Buffer): void {
    const { conflicts, clock } = this.state.world
    try {
      const place = conflicts.placeFor(this.name, node.path, clock.now())
      conflicts.keep(place, bytes)
      this.#wasKept(node, remote, place)
    } catch (error) {
      // Nothing is overwritten that could not be kept.
      this.state.fail(node, 'local', `the conflicting file could not be kept: ${describeError(error)}`)
    }
  }

  #wasKept(node: TreeNode, remote: FileEntry, kept: string): void {
    const { world } = this.state
    this.#kept.set(node, remote)
    world.report({ kind: 'conflict', folder: this.name, path: node.path, kept, time: world.clock.now() })
    this.state.again(node)
  }

  // A root that has lost everything, or much of it

  #isEmptied(): boolean {
    if (this.#mayBeEmpty) return false
    const { tree } = this.state
    let agreedOn = 0
    for (const { base, local } of tree.children?.values() ?? []) {
      if (base?.local && base.remote) agreedOn++
      if (local && tree.local) return false
    }
    return agreedOn >= (tree.local ? 2 : 1)
  }

  #stop(side: 'local' | 'remote', loss?: LostFiles): void {
    if (this.stopped) return
    this.stopped = side
    this.state.world.report({ kind: 'stopped', folder: this.name, side, ...(loss && { loss }) })
  }

  /** Files that are not back yet would count as deleted. */
  #isFilling(): boolean {
    const { live, world } = this.state
    if (live.still >= FILLED) return false
    world.clock.after(FILLED, () => world.rested())
    return true
  }

  #continueIfFilled(): void {
    const side = this.stopped
    if (!side || (side === 'local' ? this.#isEmptied() || this.#isFilling() : this.#deletions.loss())) return
    this.stopped = undefined
    this.#deletions.release()
    this.state.world.report({ kind: 'continued', folder: this.name, side })
  }
}

/** What the container has done is done here, too. */
const CHANGES_LAPTOP: ReadonlySet<Decision['do']> = new Set(['fetch', 'fetch-meta', 'remove-local'])

/** Bytes of a new file of the container that is told of before it comes. */
const LARGE = 100_000_000

/** Milliseconds without a change after which the files of a folder are taken to be back. */
const FILLED = 500

/** Milliseconds for which a mounted file may be missing on the laptop without a word. */
const STAYING = 1_000

/** What is above a path on the laptop, if that is not a folder. */
function fileAbove(node: TreeNode): TreeNode | undefined {
  for (let above = node.parent; above?.parent; above = above.parent)
    if (above.local) return isFolder(above.local) ? undefined : above
  return undefined
}

/** A hash that one side knows holds for both. */
function agreed({ base, local, remote }: TreeNode) {
  const hash = local?.hash ?? remote?.hash ?? base?.local?.hash ?? base?.remote?.hash
  const withHash = (entry: FileEntry | undefined) =>
    entry?.kind === 'file' && entry.size > 0 && hash !== undefined ? copyEntry(entry, { hash }) : entry
  return { local: withHash(local), remote: withHash(remote) }
}
