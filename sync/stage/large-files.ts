import { BLOCK } from '../core/blocks.ts'
import { copyEntry, decodeEntry, encodeEntry, type FileEntry, isUntouched } from '../core/entry.ts'
import * as fields from '../core/fields.ts'
import { hashAtRest } from '../core/hash.ts'
import { agreedHash, hasThere } from '../core/rename-candidates.ts'
import type { TreeNode } from '../core/tree-node.ts'
import type { Frame } from '../protocol/frames.ts'
import type { SyncLink } from '../protocol/link.ts'
import { literal, sendLiteral } from '../protocol/literal.ts'
import { decodeResult, encodeBit } from '../protocol/requests.ts'
import { Receiver, sendParts, sumsOf } from '../protocol/transfer.ts'
import { isWriteFinished, WriteInProgress } from '../scan/write-finished.ts'
import type { FolderState } from '../session/folder-state.ts'
import type { LocalSteps } from '../session/local-steps.ts'
import type { RemoteSteps } from '../session/remote-steps.ts'
import { spaceProblem } from './free-space.ts'
import { describeError } from './problems.ts'
import { SMALL_FILE } from './writer.ts'

interface Job {
  readonly node: TreeNode
  readonly kind: 'send' | 'fetch' | 'keep'
  /** Entry in the container at the time when the job was created. */
  readonly remote: FileEntry | undefined
  /** Files from which the other side may be able to copy the contents. */
  readonly sources: readonly TreeNode[]
}

/** Transfers files that are too large for a batch, one at a time and in parallel with the batches of small files. */
export class LargeFiles {
  readonly #state: FolderState
  readonly #local: LocalSteps
  readonly #remote: RemoteSteps
  /** Called when the version that lost a conflict has been saved. */
  onKept: (node: TreeNode, remote: FileEntry, place: string) => void = () => {}
  /**
   * Returns true if a downloaded file should still be written on the laptop. The laptop's version may have changed
   * during the download.
   */
  isWanted: (node: TreeNode) => boolean = () => true
  #jobs: Job[] = []
  #isRunning = false
  /** Files that both sides have, by size. Only set while jobs exist. */
  #bySize: Map<number, TreeNode[]> | undefined
  /**
   * Files that other files may be copied from, with the number of files that wait for such a copy. They are not deleted
   * until the copies are done.
   */
  readonly #needed = new Map<TreeNode, number>()
  /** Files in `#needed` that are to be deleted once the copies are done. */
  readonly #leaving = new Set<TreeNode>()
  /** Files that should be sent, but that other programs are still writing to. */
  readonly #restless = new Map<TreeNode, WriteInProgress>()
  /** Large file that is being transferred, with its size and the number of bytes that are done. */
  current: { readonly path: string; readonly size: number; done: number } | undefined

  constructor(state: FolderState, local: LocalSteps, remote: RemoteSteps) {
    this.#state = state
    this.#local = local
    this.#remote = remote
  }

  add(node: TreeNode, kind: Job['kind']): void {
    this.#state.setBusy(node)
    const sources = this.#state.attempts(node) > 0 ? [] : this.#sourcesOf(node, kind)
    for (const one of sources) this.#needed.set(one, (this.#needed.get(one) ?? 0) + 1)
    this.#jobs.push({ node, kind, remote: node.remote, sources })
    void this.#run()
  }

  /**
   * Returns true if the file must be kept for now, because another file may be copied from it. Its path is checked
   * again once the copies are done.
   */
  needs(node: TreeNode): boolean {
    if (!this.#needed.has(node)) return false
    this.#state.setBusy(node)
    this.#leaving.add(node)
    return true
  }

  #sourcesOf(node: TreeNode, kind: Job['kind']): readonly TreeNode[] {
    if (kind === 'keep') return []
    if (kind === 'fetch') {
      const source = this.#state.gone.here(node.remote!)
      return source ? [source] : []
    }
    this.#bySize ??= this.#filesBySize()
    return (this.#bySize.get(node.local!.size) ?? []).filter(one => one !== node)
  }

  #filesBySize(): Map<number, TreeNode[]> {
    const found = new Map<number, TreeNode[]>()
    for (const node of this.#state.tree.walk()) {
      const size = node.base?.remote?.size ?? 0
      if (size <= SMALL_FILE || agreedHash(node) === undefined) continue
      const known = found.get(size)
      if (known) known.push(node)
      else found.set(size, [node])
    }
    return found
  }

  #letGo(sources: readonly TreeNode[]): void {
    for (const one of sources) {
      const others = this.#needed.get(one)! - 1
      if (others > 0) this.#needed.set(one, others)
      else {
        this.#needed.delete(one)
        if (this.#leaving.delete(one)) this.#state.again(one)
      }
    }
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (let job = this.#jobs.shift(); job; job = this.#jobs.shift()) {
      await this.#do(job)
      this.#letGo(job.sources)
      this.#state.world.rested()
    }
    this.#isRunning = false
    this.#bySize = undefined
  }

  async #do(job: Job): Promise<void> {
    const { node, kind } = job
    const { world } = this.#state
    const { link } = world
    const size = (kind === 'send' ? node.local : node.remote)?.size ?? 0
    this.current = { path: node.path, size, done: 0 }
    try {
      if (!link || this.#state.isClosed) this.#state.again(node)
      else if (kind === 'send') await this.#sendAtRest(link, job)
      else await this.#fetch(link, job, kind)
    } catch (error) {
      if (!link?.connection.isEnded) this.#state.fail(node, 'local', describeError(error))
      else {
        this.#state.uncertain.add(node)
        this.#state.again(node)
      }
    }
    this.current = undefined
  }

  /** Sends a file while no process is writing to it, because a changed file would have to be sent again. */
  async #sendAtRest(link: SyncLink, { node, remote, sources }: Job): Promise<void> {
    const { disk, clock } = this.#state.world
    const restless = this.#restless.get(node) ?? new WriteInProgress(clock.now())
    this.#restless.set(node, restless)
    restless.begin(clock.now())
    const { isHopeless, look } = restless
    const mayBeSent = isHopeless || (await isWriteFinished(disk, clock, this.#state.writer.place(node.path), look))
    // If the container has changed its version in the meantime, decide again: the new version may have to be kept.
    if (!isUntouched(remote, node.remote)) return this.#state.again(node)
    if (mayBeSent && ((await this.#sendCopy(link, node, sources)) || (await this.#send(link, node, !isHopeless)))) {
      this.#restless.delete(node)
      return
    }
    if (mayBeSent) restless.wasWrong()
    this.#state.live.refresh(node.path)
    this.#state.retry(node, isHopeless ? 1_000 : 50)
  }

  /**
   * Requests that the container copies the contents from a file that it already has. Returns false if it has no such
   * file, so that the file must be sent.
   */
  async #sendCopy(link: SyncLink, node: TreeNode, sources: readonly TreeNode[]): Promise<boolean> {
    const { world, name, writer } = this.#state
    const size = node.local?.size ?? 0
    const mayBe = sources.filter(one => hasThere(one, size))
    if (mayBe.length === 0) return false
    const path = node.path
    const local = await hashAtRest(world.disk, world.clock, writer.place(path))
    const source = mayBe.find(one => agreedHash(one) === local?.hash && hasThere(one, size))
    if (!local || !source) return false
    const expect = node.remote
    const meta = { mtime: local.mtime + world.ahead, executable: encodeBit(local.executable) }
    const header = {
      folder: name,
      path,
      expect: encodeEntry(expect),
      from: source.path,
      size,
      hash: local.hash,
      moved: encodeEntry(source.local ? undefined : source.remote),
      ...meta,
    }
    const answer = await link.request('copy', header)
    const result = decodeResult(fields.list(answer.header, 'results')[0])
    if (result.kind !== 'done') return false
    if (isUntouched(node.local, local)) node.local = local
    const change = { kind: 'file', bytes: Buffer.alloc(0), mtime: 0 } as const
    this.#remote.applied({ node, local, write: { path, expect, change } }, result)
    return true
  }

  /** Sends a file. Returns false if the file changed in the meantime. */
  async #send(link: SyncLink, node: TreeNode, onlyAtRest: boolean): Promise<boolean> {
    const { world, name, writer } = this.#state
    const { disk, clock } = world
    const { remote } = node
    const path = node.path
    const hasOld = remote?.kind === 'file' && remote.size >= BLOCK
    const sums = hasOld ? (await link.request('sums', { folder: name, path })).body : Buffer.alloc(0)
    const header = { folder: name, path, expect: encodeEntry(remote), delta: sums.length > 0 }
    const id = link.begin({ ...header, executable: encodeBit(node.local?.executable) })
    const deflate = () => world.compression && link.connection.isSlow
    const result = await sendParts({
      disk,
      clock,
      place: writer.place(path),
      sums,
      onlyAtRest,
      send: (part, taken) => {
        this.#progress(part.kind === 'copy' ? part.length : part.bytes.length)
        if (part.kind === 'copy') link.connection.send('part', { id, from: part.from, length: part.length })
        else sendLiteral(link.connection, id, part.bytes, deflate(), taken)
      },
      ready: async () => {
        await link.connection.drained()
        return !link.connection.isEnded && !this.#state.isClosed
      },
    }).catch(error => {
      this.#cancel(link, id)
      throw error
    })
    if (result.kind === 'cut') throw new Error('the connection has ended')
    if (result.kind !== 'sent' || (onlyAtRest && !result.isStill)) {
      this.#cancel(link, id)
      return false
    }
    const { entry, hash } = result
    const meta = { mtime: entry.mtime + world.ahead, executable: encodeBit(entry.executable) }
    const local = copyEntry(entry, { hash })
    this.#state.sends(node, local)
    this.#state.saved.flush()
    const answer = await link.finish(id, { size: entry.size, hash, ...meta })
    if (node.local?.kind === 'file' && result.isStill && isUntouched(node.local, entry)) node.local = local
    const change = { kind: 'file', bytes: Buffer.alloc(0), mtime: 0 } as const
    const write = { path, expect: remote, change }
    this.#remote.applied({ node, local, write }, decodeResult(fields.list(answer.header, 'results')[0]))
    if (!result.isStill) this.#state.live.hint(path)
    return true
  }

  #cancel(link: SyncLink, id: number): void {
    link.connection.send('cancel', { id })
  }

  #progress(bytes: number): void {
    if (this.current) this.current.done += bytes
  }

  async #fetch(link: SyncLink, { node, sources }: Job, kind: 'fetch' | 'keep'): Promise<void> {
    const { world, name } = this.#state
    const { disk, clock, conflicts } = world
    const remote = node.remote
    if (remote?.kind !== 'file') return this.#state.again(node)
    if (kind === 'fetch') {
      for (const source of sources) if (await this.#fetchRenamed(link, node, remote, source)) return
      return this.#fetchTo(link, node, remote, undefined)
    }
    const kept = conflicts.placeFor(name, node.path, clock.now())
    try {
      await this.#fetchTo(link, node, remote, kept)
    } finally {
      if (disk.entry(kept) === undefined) conflicts.giveUp(kept)
    }
  }

  /** Downloads a file. `kept` is the path for a version that lost a conflict. */
  async #fetchTo(link: SyncLink, node: TreeNode, remote: FileEntry, kept: string | undefined): Promise<void> {
    const { world, name, writer } = this.#state
    const { disk, clock, conflicts } = world
    const path = node.path
    const place = writer.place(path)
    const hasOld = kept === undefined && node.local?.kind === 'file' && node.local.size >= BLOCK
    const sums = hasOld ? await sumsOf(disk, clock, place) : Buffer.alloc(0)
    const full = spaceProblem(disk, (kept ?? place).slice(0, (kept ?? place).lastIndexOf('/')), remote.size)
    if (full) return this.#state.fail(node, 'local', full)
    const stage = kept ? conflicts.stageFor(kept) : writer.stageFor(place)
    const receiver = new Receiver(disk, stage, hasOld ? place : undefined, remote.executable ?? false)
    let failure: unknown
    const part = (frame: Frame) => {
      try {
        if (failure === undefined) this.#receive(receiver, frame)
      } catch (error) {
        failure = error
      }
    }
    try {
      if (kept === undefined) receiver.copyMode(place)
      const header = { folder: name, path, expect: encodeEntry(remote), deflate: world.compression }
      const answer = await link.request('fetch', header, [sums], part)
      if (failure !== undefined) throw failure
      this.#fetched(node, remote, receiver, answer.header, kept)
    } finally {
      receiver.abort()
    }
  }

  /** Copies a file from its old path, if the container has renamed it. Returns false if the file must be downloaded. */
  async #fetchRenamed(link: SyncLink, node: TreeNode, remote: FileEntry, source: TreeNode): Promise<boolean> {
    const { world, name, writer } = this.#state
    const { disk, clock } = world
    const { header } = await link.request('hash', { folder: name, paths: [node.path] })
    const { e, h } = fields.object(fields.list(header, 'results')[0])
    if (h !== agreedHash(source) || !isUntouched(remote, decodeEntry(e ?? null))) return false
    const place = writer.place(node.path)
    if (spaceProblem(disk, place.slice(0, place.lastIndexOf('/')), remote.size)) return false
    const receiver = new Receiver(disk, writer.stageFor(place), writer.place(source.path), remote.executable ?? false)
    try {
      receiver.copyMode(writer.place(source.path))
      if (!(await receiver.addAll(remote.size, clock, () => !this.#state.isClosed))) return false
      if (!receiver.finish(remote.size, agreedHash(source)!)) return false
      this.#place(node, remote, agreedHash(source)!, receiver)
      return true
    } catch {
      // The old file was deleted on the laptop, too.
      return false
    } finally {
      receiver.abort()
    }
  }

  #receive(receiver: Receiver, { header, body }: Frame): void {
    if (header['from'] === undefined) {
      const bytes = literal(header, body)
      this.#progress(bytes.length)
      receiver.add({ kind: 'bytes', bytes })
    } else {
      const length = fields.count(header, 'length')
      this.#progress(length)
      receiver.add({ kind: 'copy', from: fields.count(header, 'from'), length })
    }
    // The container must not fill the laptop's disk with more data than was requested.
    if (this.current && this.current.done > this.current.size) throw new Error('the file is longer than it was')
  }

  #fetched(
    node: TreeNode,
    remote: FileEntry,
    receiver: Receiver,
    header: Frame['header'],
    kept: string | undefined,
  ): void {
    const state = this.#state
    if (header['k'] === 'problem') {
      state.fail(node, 'remote', fields.text(header, 'm').slice(0, 500))
      return
    }
    if (header['k'] !== 'sent') {
      node.remote = decodeEntry(header['e'] ?? null)
      state.retry(node, state.attempts(node) < 4 ? 50 : 1_000)
      return
    }
    const hash = fields.text(header, 'hash')
    if (!receiver.finish(fields.count(header, 'size'), hash)) {
      state.fail(node, 'remote', 'the file has arrived damaged')
      return
    }
    if (kept) {
      state.world.disk.rename(receiver.stage, kept)
      this.onKept(node, remote, kept)
      return
    }
    this.#place(node, remote, hash, receiver)
  }

  #place(node: TreeNode, remote: FileEntry, hash: string, receiver: Receiver): void {
    const state = this.#state
    if (!isUntouched(remote, node.remote)) {
      state.again(node)
      return
    }
    node.remote = copyEntry(remote, { hash })
    this.#local.begin()
    if (!this.isWanted(node)) {
      if (state.busy.has(node)) state.again(node)
      return
    }
    this.#local.placeFile(node, receiver.stage, node.remote)
  }
}
