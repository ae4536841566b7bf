import { isAtRest, Restless } from './at-rest.ts'
import { BLOCK } from './blocks.ts'
import { copyEntry, decodeEntry, encodeEntry, type FileEntry, isUntouched } from './entry.ts'
import * as fields from './fields.ts'
import type { FolderState } from './folder-state.ts'
import type { Frame } from './frames.ts'
import { spaceProblem } from './free-space.ts'
import type { SyncLink } from './link.ts'
import { literal, sendLiteral } from './literal.ts'
import type { LocalSteps } from './local-steps.ts'
import { describeError } from './problems.ts'
import type { RemoteSteps } from './remote-steps.ts'
import { decodeResult, encodeBit } from './requests.ts'
import { Receiver, sendParts, sumsOf } from './transfer.ts'
import type { TreeNode } from './tree-node.ts'

interface Job {
  readonly node: TreeNode
  readonly kind: 'send' | 'fetch' | 'keep'
  /** What was in the container when it was decided. */
  readonly remote: FileEntry | undefined
}

/** Files that do not fit into a batch: one after the other, beside the small ones. */
export class LargeFiles {
  readonly #state: FolderState
  readonly #local: LocalSteps
  readonly #remote: RemoteSteps
  /** The loser of a conflict has been kept. */
  onKept: (node: TreeNode, remote: FileEntry, place: string) => void = () => {}
  /** Whether the container's file is still to be written on the laptop, which may have changed its own meanwhile. */
  isWanted: (node: TreeNode) => boolean = () => true
  #jobs: Job[] = []
  #isRunning = false
  /** Files that somebody writes to while they are to be sent. */
  readonly #restless = new Map<TreeNode, Restless>()
  /** The file that is on its way, and how far. */
  current: { readonly path: string; readonly size: number; done: number } | undefined

  constructor(state: FolderState, local: LocalSteps, remote: RemoteSteps) {
    this.#state = state
    this.#local = local
    this.#remote = remote
  }

  add(node: TreeNode, kind: Job['kind']): void {
    this.#state.setBusy(node)
    this.#jobs.push({ node, kind, remote: node.remote })
    void this.#run()
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (let job = this.#jobs.shift(); job; job = this.#jobs.shift()) await this.#do(job)
    this.#isRunning = false
  }

  async #do({ node, kind, remote }: Job): Promise<void> {
    const { world } = this.#state
    const { link } = world
    const size = (kind === 'send' ? node.local : node.remote)?.size ?? 0
    this.current = { path: node.path, size, done: 0 }
    try {
      if (!link || this.#state.isClosed) this.#state.again(node)
      else if (kind === 'send') await this.#sendAtRest(link, node, remote)
      else await this.#fetch(link, node, kind)
    } catch (error) {
      if (!link?.connection.isEnded) this.#state.fail(node, 'local', describeError(error))
      else {
        this.#state.uncertain.add(node)
        this.#state.again(node)
      }
    }
    this.current = undefined
    world.rested()
  }

  /** What is being written would have to be sent again. */
  async #sendAtRest(link: SyncLink, node: TreeNode, remote: FileEntry | undefined): Promise<void> {
    const { disk, clock } = this.#state.world
    const restless = this.#restless.get(node) ?? new Restless(clock.now())
    this.#restless.set(node, restless)
    restless.begin(clock.now())
    const { isHopeless, look } = restless
    const mayBeSent = isHopeless || (await isAtRest(disk, clock, this.#state.writer.place(node.path), look))
    // What the container has written since is not known to be unwanted.
    if (!isUntouched(remote, node.remote)) return this.#state.again(node)
    if (mayBeSent && (await this.#send(link, node, !isHopeless))) {
      this.#restless.delete(node)
      return
    }
    if (mayBeSent) restless.wasWrong()
    this.#state.live.refresh(node.path)
    this.#state.retry(node, isHopeless ? 1_000 : 50)
  }

  /** False if somebody writes to it. */
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

  async #fetch(link: SyncLink, node: TreeNode, kind: 'fetch' | 'keep'): Promise<void> {
    const { world, name } = this.#state
    const { disk, clock, conflicts } = world
    const remote = node.remote
    if (remote?.kind !== 'file') return this.#state.again(node)
    if (kind === 'fetch') return this.#fetchTo(link, node, remote, undefined)
    const kept = conflicts.placeFor(name, node.path, clock.now())
    try {
      await this.#fetchTo(link, node, remote, kept)
    } finally {
      if (disk.entry(kept) === undefined) conflicts.giveUp(kept)
    }
  }

  /** `kept`: where the loser of a conflict is to be. */
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
      const header = { folder: name, path, expect: encodeEntry(remote), deflate: world.compression }
      const answer = await link.request('fetch', header, [sums], part)
      if (failure !== undefined) throw failure
      this.#fetched(node, remote, receiver, answer.header, kept)
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
    // Never more than was asked for: the laptop's disk is not the container's to fill.
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
