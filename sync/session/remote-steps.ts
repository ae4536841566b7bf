import { deflate, inflate } from '../core/compress.ts'
import { copyEntry, decodeEntry, encodeEntry, type FileEntry, isUntouched, type WireEntry } from '../core/entry.ts'
import * as fields from '../core/fields.ts'
import { hashOf } from '../core/hash.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { FRAME_LIMITS, type Frame } from '../protocol/frames.ts'
import type { SyncLink } from '../protocol/link.ts'
import { decodeResult, encodeWrite, type ItemResult, type RequestedChange } from '../protocol/requests.ts'
import type { FolderState } from './folder-state.ts'

/** Number of items and bytes from which a batch is sent. */
const BATCH_ITEMS = 128
const BATCH_BYTES = 1 << 20

interface Sent {
  readonly node: TreeNode
  readonly local: FileEntry | undefined
  readonly write: RequestedChange
}

export interface WantedFile {
  readonly node: TreeNode
  readonly remote: FileEntry
  readonly keep: boolean
  /** True if the container has renamed a file that the laptop created. */
  readonly isMoved?: boolean
}

/** Sends changes and requests to the agent, several in one frame. */
export class RemoteSteps {
  readonly #state: FolderState
  /** Called when contents have arrived. */
  onContents: (wanted: WantedFile, bytes: Buffer, hash: string) => void = () => {}
  #writes: Sent[] = []
  #bytes = 0
  #reads: WantedFile[] = []
  #readBytes = 0
  #hashes: TreeNode[] = []

  constructor(state: FolderState) {
    this.#state = state
  }

  get isEmpty(): boolean {
    return this.#writes.length === 0 && this.#reads.length === 0 && this.#hashes.length === 0
  }

  get isFull(): boolean {
    return (
      this.#writes.length >= BATCH_ITEMS ||
      this.#bytes >= BATCH_BYTES ||
      this.#reads.length >= BATCH_ITEMS ||
      this.#readBytes >= BATCH_BYTES ||
      this.#hashes.length >= BATCH_ITEMS
    )
  }

  change(node: TreeNode, change: RequestedChange['change'], local = node.local): void {
    this.#state.setBusy(node)
    if (change.kind === 'remove') this.#state.leaving.add(node)
    if (change.kind === 'folder') this.#state.arriving.add(node)
    this.#writes.push({ node, local, write: { path: node.path, expect: node.remote, change } })
    if (change.kind === 'file') this.#bytes += change.bytes.length
  }

  read(wanted: WantedFile): void {
    this.#state.setBusy(wanted.node)
    this.#reads.push(wanted)
    this.#readBytes += wanted.remote.size
  }

  hash(node: TreeNode): void {
    this.#state.setBusy(node)
    this.#hashes.push(node)
  }

  /** Discards the collected items of a connection that has ended; their paths are checked again. */
  drop(): void {
    for (const { node } of [...this.#writes, ...this.#reads]) this.#state.again(node)
    for (const node of this.#hashes) this.#state.again(node)
    this.#writes = []
    this.#reads = []
    this.#hashes = []
    this.#bytes = 0
    this.#readBytes = 0
  }

  /** Sends the collected items. */
  send(link: SyncLink): void {
    if (this.#writes.length > 0) void this.#sendWrites(link)
    if (this.#reads.length > 0) void this.#sendReads(link)
    if (this.#hashes.length > 0) void this.#sendHashes(link)
  }

  async #sendWrites(link: SyncLink): Promise<void> {
    const sent = this.#writes
    const bytes = this.#bytes
    this.#writes = []
    this.#bytes = 0
    const { credit, compression } = this.#state.world
    const body = sent.flatMap(({ write: { change } }) => (change.kind === 'file' ? [change.bytes] : []))
    const small = compression && link.connection.isSlow ? deflate(Buffer.concat(body)) : undefined
    const header = {
      folder: this.#state.name,
      items: sent.map(({ write }) => encodeWrite(write)),
      ...(small && { raw: bytes }),
    }
    for (const { node, local, write } of sent)
      if (local && (write.change.kind === 'file' || write.change.kind === 'link')) this.#state.sends(node, local)
    this.#state.saved.flush()
    credit.use(bytes)
    await this.#ask(
      sent.map(({ node }) => node),
      async () => {
        const answer = await link.request('apply', header, small ? [small] : body)
        const results = fields.list(answer.header, 'results')
        if (results.length !== sent.length) throw new Error('an answer has another number of results')
        for (const [at, one] of sent.entries()) this.applied(one, decodeResult(results[at]))
      },
      link,
    )
    credit.free(bytes)
  }

  /** Handles the result of a change in the container. */
  applied({ node, local, write: { change } }: Sent, result: ItemResult): void {
    const state = this.#state
    state.sent.delete(node)
    if (result.kind === 'not-empty') {
      this.#notEmpty(node, change.kind)
      return
    }
    const entry = result.entry
    node.remote = entry && local?.hash && result.kind === 'done' ? copyEntry(entry, { hash: local.hash }) : entry
    if (result.kind === 'changed') {
      // The parent folder may have changed.
      if (!entry && node.parent?.parent) state.uncertain.add(node.parent)
      state.retry(node, state.attempts(node) < 3 ? 0 : 200)
      return
    }
    if (result.kind === 'problem') {
      state.fail(node, 'remote', result.message)
      return
    }
    state.setBase(node, change.kind === 'remove' ? undefined : { local, remote: node.remote })
    // The path may have changed on the laptop since it was read.
    const isSame = change.kind === 'remove' ? node.local === undefined : isUntouched(local, node.local)
    if (isSame) state.finish(node)
    else state.again(node)
  }

  #notEmpty(node: TreeNode, kind: RequestedChange['change']['kind']): void {
    const state = this.#state
    if (kind !== 'remove') {
      state.fail(node, 'remote', 'the folder in its place has files that are ignored')
      return
    }
    // The contents of the folder are ignored, or were just created, so the folder stays in the container.
    state.setBase(node, node.local ? undefined : { local: undefined, remote: node.remote })
    state.finish(node)
  }

  async #sendReads(link: SyncLink): Promise<void> {
    const wanted = this.#reads
    this.#reads = []
    this.#readBytes = 0
    const items = wanted.map(({ node, remote }) => [node.path, encodeEntry(remote)])
    await this.#ask(
      wanted.map(({ node }) => node),
      async () => {
        const deflate = this.#state.world.compression
        const { header, body } = await link.request('read', { folder: this.#state.name, items, deflate })
        const raw = header['raw'] === undefined ? body : inflate(body, fields.count(header, 'raw'), FRAME_LIMITS.frame)
        this.#contents(wanted, fields.list(header, 'results').map(fields.object), raw)
      },
      link,
    )
  }

  #contents(wanted: readonly WantedFile[], results: readonly Frame['header'][], body: Buffer): void {
    let at = 0
    wanted.forEach((one, index) => {
      const result = results[index]
      const { node } = one
      if (result?.['k'] === 'read') {
        const end = at + fields.count(result, 'size')
        if (end > body.length) throw new Error('the contents of a file are not all there')
        const bytes = body.subarray(at, end)
        at = end
        this.onContents(one, bytes, hashOf(bytes))
      } else if (result?.['k'] === 'changed') {
        node.remote = decodeEntry(result['e'])
        // The file is being written, so it is not read again immediately.
        this.#state.retry(node, this.#state.attempts(node) < 4 ? 50 : 1_000)
      } else this.#state.fail(node, 'remote', fields.text(result ?? {}, 'm').slice(0, 500))
    })
  }

  async #sendHashes(link: SyncLink): Promise<void> {
    const nodes = this.#hashes
    this.#hashes = []
    await this.#ask(
      nodes,
      async () => {
        const paths = nodes.map(node => node.path)
        const { header } = await link.request('hash', { folder: this.#state.name, paths })
        const results = fields.list(header, 'results').map(fields.object)
        for (const [at, node] of nodes.entries()) this.#hashed(node, results[at])
      },
      link,
    )
  }

  #hashed(node: TreeNode, result: Frame['header'] | undefined): void {
    const { e, h, m } = result ?? {}
    const entry = decodeEntry(e)
    node.remote = entry && typeof h === 'string' ? copyEntry(entry, { hash: h }) : entry
    if (typeof m === 'string') this.#state.fail(node, 'remote', m.slice(0, 500))
    else if (typeof h !== 'string' && entry?.kind === 'file') this.#state.retry(node, 50)
    else this.#state.again(node)
  }

  /** Requests the state of paths in the container, after a connection was lost. */
  async stat(link: SyncLink, nodes: readonly TreeNode[]): Promise<void> {
    const paths = nodes.map(({ path }) => path)
    const { header } = await link.request('stat', { folder: this.#state.name, paths })
    const entries = fields.list(header, 'entries') as readonly WireEntry[]
    paths.forEach((path, at) => {
      const entry = decodeEntry(entries[at] ?? null)
      // The node may have been removed from the tree, and created again.
      const node = this.#state.tree.at(path)
      if (!isUntouched(node.remote, entry)) node.remote = entry
      this.#state.mark(node)
    })
  }

  /**
   * Runs a request. If the connection ends before the answer, the result is unknown, and the paths become uncertain.
   */
  async #ask(nodes: readonly TreeNode[], work: () => Promise<void>, link: SyncLink): Promise<void> {
    try {
      await work()
    } catch (error) {
      for (const node of nodes) this.#state.uncertain.add(node)
      for (const node of nodes) if (this.#state.busy.has(node)) this.#state.again(node)
      link.end(error as Error)
    }
    this.#state.world.rested()
  }
}
