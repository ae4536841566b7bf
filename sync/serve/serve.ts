import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { SyncClock } from '../core/clock.ts'
import * as fields from '../core/fields.ts'
import type { PathRule, PatternSet } from '../ignore/path-rules.ts'
import { FrameStream } from '../protocol/frame-stream.ts'
import { FRAME_LIMITS, type Frame } from '../protocol/frames.ts'
import { isProof, newNonce, proof, SYNC_PROTOCOL } from '../protocol/greeting.ts'
import type { IgnoreSource } from '../scan/ignore-source.ts'
import { systemClock } from '../session/system-clock.ts'
import { type Disk, nodeDisk } from '../stage/disk.ts'
import { makeFolders, writeOwn } from '../stage/disk-files.ts'
import { SyncVolume } from '../stage/volume.ts'
import { ServedFolder } from './served-folder.ts'
import { ServedRequests } from './served-requests.ts'

export interface ServeOptions {
  readonly key: Uint8Array
  /** Mount path of the sync volume. */
  readonly volume: string
  readonly folders: readonly ServedPlace[]
  /** Path of the file that is created when the application may start. */
  readonly ready: string
  readonly write: 'auto' | 'rename' | 'inplace'
  /**
   * Called before the volume is used. If it throws, the error is reported to the laptop, and it is called again for the
   * next laptop that connects.
   */
  readonly prepare?: () => void
  readonly disk?: Disk
  readonly clock?: SyncClock
  /** True if one watcher reports all changes below a folder, as on macOS and Windows. */
  readonly recursive?: boolean
}

/** Sync folder and its path in the volume. */
export interface ServedPlace {
  readonly name: string
  readonly path: string
  /** Name of the only file in the folder, if the container mounts just that file. */
  readonly file?: string
}

export interface SyncServer {
  /** Serves a connection from any client; only a client that has the key gets an answer. */
  connect(stream: Duplex): void
  /** Reports to the laptop that this agent cannot continue. */
  fail(error: Error): void
  close(): void
}

const GREETING_TIME = 10_000
const GREETINGS = 16
const ENTRIES = 1_000
/** Maximum number of unwatched folders reported to the laptop. */
const UNWATCHED = 100

/**
 * Starts the agent's half of the sync, which executes the laptop's requests and reports changes. Its watchers stay
 * active while no laptop is connected, so that after a reconnect only the missed changes are sent.
 */
export function serveSync(options: ServeOptions): SyncServer {
  return new Server(options)
}

class Server implements SyncServer {
  readonly disk: Disk
  readonly clock: SyncClock
  readonly options: ServeOptions
  #volume: SyncVolume | undefined
  /** ID of the trees that were read last. A laptop that has received these trees in full needs only the changes. */
  instance = randomUUID()
  folders: readonly ServedFolder[] = []
  #client: ServedClient | undefined
  readonly #greeting = new Set<ServedClient>()
  /** ID of the laptop that owns the folders. `#unconfirmed` holds the changes that this laptop has not confirmed. */
  #owner = ''
  #sequence = 0
  readonly #unconfirmed = new Map<number, { readonly folder: ServedFolder; readonly paths: readonly string[] }>()

  constructor(options: ServeOptions) {
    this.options = options
    this.disk = options.disk ?? nodeDisk
    this.clock = options.clock ?? systemClock
    try {
      // The volume has content of an earlier session, so the application need not wait for a laptop.
      if (this.volume.wasSynced && this.#hasMountedFiles()) this.openGate()
    } catch {
      // The error is reported to the first laptop that connects, unless the problem is solved by then.
    }
  }

  /**
   * State that is stored in the volume. Throws while the volume cannot be used, because its disk is full or its folders
   * belong to another user.
   */
  get volume(): SyncVolume {
    if (this.#volume) return this.#volume
    this.options.prepare?.()
    this.#volume = new SyncVolume(this.disk, this.options.volume)
    return this.#volume
  }

  connect(stream: Duplex): void {
    if (this.#greeting.size >= GREETINGS) {
      stream.on('error', () => {})
      stream.destroy()
      return
    }
    const client = new ServedClient(this, stream)
    this.#greeting.add(client)
    const cancel = this.clock.after(GREETING_TIME, () => {
      if (this.#greeting.has(client)) client.end(new Error('the greeting took too long'))
    })
    client.onGreeted = () => {
      cancel()
      this.#greeting.delete(client)
      this.#client?.end(new Error('the laptop has opened another connection'))
      this.#client = client
    }
    client.onEnded = () => {
      cancel()
      this.#greeting.delete(client)
      if (this.#client === client) this.#client = undefined
    }
  }

  close(): void {
    for (const client of this.#greeting) client.end(new Error('the agent is stopping'))
    this.#client?.end(new Error('the agent is stopping'))
    for (const folder of this.folders) folder.close()
  }

  fail(error: Error): void {
    this.#client?.fail(error)
  }

  openGate(): void {
    const { ready } = this.options
    this.#makeMountedFiles()
    for (const folder of this.folders) folder.watch()
    if (this.disk.entry(ready) !== undefined) return
    makeFolders(this.disk, ready.slice(0, ready.lastIndexOf('/')))
    writeOwn(this.disk, ready, Buffer.from('\n'))
  }

  /** Returns false if a mounted file is missing or empty, which means that it has not been synchronized yet. */
  #hasMountedFiles(): boolean {
    return this.#mountedFiles().every(place => {
      const entry = this.disk.entry(place)
      return entry !== undefined && entry !== 'other' && entry.kind === 'file' && entry.size > 0
    })
  }

  /**
   * Creates the files that the container mounts, as empty files. If such a file did not exist, the kubelet would create
   * a folder at its path.
   */
  #makeMountedFiles(): void {
    for (const place of this.#mountedFiles()) {
      if (this.disk.entry(place) !== undefined) continue
      makeFolders(this.disk, place.slice(0, place.lastIndexOf('/')))
      writeOwn(this.disk, place, Buffer.alloc(0))
    }
  }

  #mountedFiles(): readonly string[] {
    const { folders, volume } = this.options
    return folders.flatMap(({ path, file }) => (file === undefined ? [] : [`${volume}/${path}/${file}`]))
  }

  /**
   * Resumes with a laptop that was connected before, or starts for a new laptop or new ignore rules. Returns true if
   * the laptop only needs the changes that it has missed. `seen` is the number of the last message that the laptop has
   * received.
   */
  async takeUp(
    owner: string,
    seen: number,
    wanted: ReadonlyMap<string, IgnoreSource>,
    rescan: number,
  ): Promise<boolean> {
    const isSame =
      owner === this.#owner &&
      this.folders.length === wanted.size &&
      this.folders.every(folder => sameSource(folder.ignores, wanted.get(folder.name)))
    if (isSame) {
      this.confirm(seen)
      for (const { folder, paths } of this.#unconfirmed.values()) for (const path of paths) folder.dirty.add(path)
      this.#unconfirmed.clear()
      return true
    }
    for (const folder of this.folders) folder.close()
    this.#unconfirmed.clear()
    this.#owner = ''
    this.instance = randomUUID()
    const folders = [...wanted].map(([name, ignores]) => this.#folder(name, ignores, rescan))
    this.folders = folders
    for (const folder of folders) {
      await folder.start()
      // A partially read tree must not be used, because paths that were not read would count as deleted.
      if (this.folders !== folders) throw new Error('another connection has taken its place')
    }
    this.#owner = owner
    return false
  }

  #folder(name: string, ignores: IgnoreSource, rescanInterval: number): ServedFolder {
    const { disk, clock, volume } = this
    const found = this.options.folders.find(folder => folder.name === name)
    if (!found) throw new Error(`there is no folder \`${name}\``)
    return new ServedFolder({
      disk,
      clock,
      volume,
      name,
      ignores,
      rescanInterval,
      root: `${this.options.volume}/${found.path}`,
      write: found.file === undefined ? this.options.write : 'mounted',
      recursive: this.options.recursive ?? process.platform !== 'linux',
      isWatched: disk.entry(this.options.ready) !== undefined,
      changed: () => this.tell(),
      owns: paths => {
        if (this.#client?.isStarted) this.#client.send('own', { folder: name, paths })
      },
    })
  }

  /** Sends pending changes, if a laptop is connected. */
  tell(): void {
    if (!this.#client?.isStarted) return
    for (const folder of this.folders) {
      this.tellLeftOut(this.#client, folder, false)
      this.#tellUnwatched(this.#client, folder)
      if (folder.dirty.size === 0) continue
      const entries = folder.takeChanges()
      for (let at = 0; at < entries.length; at += ENTRIES) {
        const some = entries.slice(at, at + ENTRIES)
        this.#unconfirmed.set(++this.#sequence, { folder, paths: some.map(([path]) => path) })
        this.#client.send('changed', { seq: this.#sequence, folder: folder.name, entries: some })
      }
    }
  }

  tellLeftOut(client: ServedClient, folder: ServedFolder, all: boolean): void {
    const leftOut = folder.takeLeftOut(all)
    if (leftOut) client.send('left-out', { folder: folder.name, ...leftOut })
  }

  #tellUnwatched(client: ServedClient, { name, live: { watchers } }: ServedFolder): void {
    const { size } = watchers.unwatched
    if (client.unwatched.get(name) === size) return
    client.unwatched.set(name, size)
    const folders = [...watchers.unwatched].slice(0, UNWATCHED)
    client.send('unwatched', { folder: name, folders, limit: watchers.limit ?? '' })
  }

  confirm(seen: number): void {
    for (const sequence of this.#unconfirmed.keys()) {
      if (sequence > seen) break
      this.#unconfirmed.delete(sequence)
    }
  }
}

export type { Server }

const sameSource = (one: IgnoreSource, other: IgnoreSource | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

function readSource(ignores: Frame['header']): IgnoreSource {
  const includes = Object.entries(fields.object(ignores['includes'])).map(([name, text]) => [name, String(text)])
  return {
    ...(ignores['text'] !== undefined && { text: fields.text(ignores, 'text') }),
    includes: Object.fromEntries(includes),
    foldCase: ignores['foldCase'] === true,
    escapeCharacter: fields.text(ignores, 'escapeCharacter'),
    excluded: fields.list(ignores, 'excluded').map(String),
    rules: fields.list(ignores, 'rules').map(readRule),
  }
}

function readRule(rule: unknown): PathRule {
  const header = fields.object(rule)
  return {
    under: fields.text(header, 'under'),
    isFile: header['isFile'] === true,
    ...(header['only'] !== undefined && { only: readPatterns(header['only']) }),
    except: fields.list(header, 'except').map(readPatterns),
  }
}

function readPatterns(patterns: unknown): PatternSet {
  const header = fields.object(patterns)
  const [text, below, above] = ['text', 'below', 'above'].map(key => fields.text(header, key))
  return { text: text!, below: below!, above: above! }
}

/** Connection of a client to the agent. */
class ServedClient {
  onGreeted: () => void = () => {}
  onEnded: () => void = () => {}
  isStarted = false
  /** Number of unwatched folders reported to the laptop, by name of the sync folder. */
  readonly unwatched = new Map<string, number>()
  readonly #server: Server
  readonly #connection: FrameStream
  readonly #nonce = newNonce()
  readonly #requests: ServedRequests
  #isGreeted = false

  constructor(server: Server, stream: Duplex) {
    this.#server = server
    this.#connection = new FrameStream({
      stream,
      clock: server.clock,
      received: frame => this.#receive(frame),
      ended: () => {
        this.isStarted = false
        this.#requests.close()
        this.onEnded()
      },
    })
    this.#requests = new ServedRequests(server, this.#connection)
    this.#connection.send('hello', { protocol: SYNC_PROTOCOL, nonce: this.#nonce })
  }

  send(type: Frame['type'], header: object): void {
    this.#connection.send(type, header)
  }

  end(error: Error): void {
    this.#connection.end(error)
  }

  fail(error: Error): void {
    this.#connection.fail(error)
  }

  #receive({ type, header, body }: Frame): void {
    if (!this.#isGreeted) this.#greet(type, header)
    else if (type === 'start') void this.#start(header).catch(error => this.fail(error as Error))
    else if (type === 'seen') this.#server.confirm(fields.count(header, 'seq'))
    else this.#requests.receive({ type, header, body })
  }

  #greet(type: Frame['type'], header: Frame['header']): void {
    if (type !== 'auth') throw new Error('the greeting is missing')
    const nonce = fields.text(header, 'nonce')
    const { key } = this.#server.options
    if (!isProof(fields.text(header, 'proof'), proof(key, 'laptop', this.#nonce, nonce)))
      throw new Error('the greeting has another key')
    this.#isGreeted = true
    this.#connection.limits = FRAME_LIMITS
    this.#connection.tellsWhy = true
    this.onGreeted()
    this.send('welcome', {
      proof: proof(key, 'agent', this.#nonce, nonce),
      volume: this.#server.volume.id,
      instance: this.#server.instance,
      clock: this.#server.clock.now(),
    })
  }

  async #start(header: Frame['header']): Promise<void> {
    // A connection can be started a second time, with other ignore rules.
    this.isStarted = false
    const wanted = new Map<string, IgnoreSource>()
    for (const value of fields.list(header, 'folders')) {
      const folder = fields.object(value)
      wanted.set(fields.text(folder, 'name'), readSource(fields.object(folder['ignores'])))
    }
    const server = this.#server
    const owner = fields.text(header, 'client')
    const isKnown = await server.takeUp(owner, fields.count(header, 'seen'), wanted, fields.count(header, 'rescan'))
    if (this.#connection.isEnded) return
    if (!isKnown || header['all'] === true) await this.#sendAll()
    for (const folder of server.folders) server.tellLeftOut(this, folder, true)
    this.isStarted = true
    const own = Object.fromEntries(server.folders.map(folder => [folder.name, [...folder.own]]))
    this.send('started', { resumed: isKnown && header['all'] !== true, own, instance: server.instance })
    server.tell()
  }

  async #sendAll(): Promise<void> {
    for (const folder of this.#server.folders) {
      folder.dirty.clear()
      for (const entries of folder.snapshot(ENTRIES)) {
        this.send('snapshot', { folder: folder.name, entries, unreadable: [...folder.unreadable.keys()] })
        await this.#connection.drained()
      }
    }
  }
}
