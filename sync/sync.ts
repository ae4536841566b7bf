import { createHash, randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { BaseSaver } from './base-saver.ts'
import { type SyncClock, systemClock } from './clock.ts'
import { ConflictFolder, type SyncConflict } from './conflicts.ts'
import { Credit } from './credit.ts'
import { DeletedFiles } from './deleted-files.ts'
import { type Disk, nodeDisk } from './disk.ts'
import * as fields from './fields.ts'
import type { FolderEvent, FolderWorld, LargeArrival, LostFiles } from './folder-state.ts'
import { FolderSync } from './folder-sync.ts'
import type { Frame } from './frames.ts'
import { type FullDiskEvent, FullDisks } from './full-disks.ts'
import type { IgnoreSource } from './ignore-source.ts'
import type { LeftOut } from './left-out.ts'
import { leftToDo } from './left-to-do.ts'
import { SyncLink, type Welcome } from './link.ts'
import { placeIn } from './paths.ts'
import type { SyncProblem } from './problems.ts'

/** A folder of the laptop, and what is not synchronized in it. */
export interface LocalSyncFolder {
  /** The name in the agent's configuration. */
  readonly name: string
  /** An absolute path. */
  readonly local: string
  /** As `ignoreSource` reads it. */
  readonly ignores: IgnoreSource
  /** Reads them again when a file that they come from has changed: they count at once. */
  readonly readIgnores?: () => IgnoreSource
  /** The only file of the folder that is synchronized, where the container has it mounted by itself. */
  readonly file?: string
  /** Paths in it that are never synchronized, in neither direction. */
  readonly own?: readonly string[]
}

export interface SyncOptions {
  readonly folders: readonly LocalSyncFolder[]
  /** Where this session keeps what both sides have agreed on, and the files that have lost or were deleted. */
  readonly stateFolder: string
  /** `up`: what is done in the container stays there. */
  readonly direction: 'both' | 'up'
  readonly compression: boolean
  /** Seconds between two looks at everything; 0: never. */
  readonly rescanInterval: number
  /** Forgets what was agreed on in earlier sessions. */
  readonly reset: boolean
  readonly on: (event: SyncEvent) => void
  readonly disk?: Disk
  readonly clock?: SyncClock
  readonly platform?: NodeJS.Platform
}

export type SyncEvent =
  /** At most five a second while there is something to do, and one when there is nothing left. */
  | { readonly kind: 'progress'; readonly status: SyncStatus }
  | { readonly kind: 'problem' | 'solved'; readonly problem: SyncProblem }
  | ({ readonly kind: 'conflict' } & SyncConflict)
  | LargeArrival
  /**
   * All files are gone on one side, or the container has deleted many: then `loss` says how many. Nothing is deleted on
   * the other side before `answer`.
   */
  | {
      readonly kind: 'stopped' | 'continued'
      readonly folder: string
      readonly side: 'local' | 'remote'
      readonly loss?: LostFiles
    }
  /** In place of a problem for each file that has no room. */
  | FullDiskEvent

export interface SyncStatus {
  readonly state: 'disconnected' | 'scanning' | 'syncing' | 'synced' | 'stopped'
  /** Rounded down: 100 only if nothing is left in either direction. */
  readonly percent: number
  /** Both sides have them. */
  readonly files: number
  readonly bytes: number
  readonly filesLeft: number
  readonly bytesLeft: number
  /** Over the connections of this session. */
  readonly sentBytes: number
  /** The large file that is on its way. */
  readonly current?: { readonly path: string; readonly size: number; readonly done: number }
  readonly problems: readonly SyncProblem[]
  /** Of this session. */
  readonly conflicts: readonly SyncConflict[]
  /** Folders that the system does not watch, and that are read every few seconds instead. */
  readonly unwatched: readonly string[]
  /** What cannot be synchronized, on either side: names that are not UTF-8, sockets, the container's own `.git`. */
  readonly leftOut: LeftOut
}

/** The laptop's half of the sync. */
export interface SyncEngine {
  /** Takes up work over a new connection to the agent; the one before is ended. */
  attach(stream: Duplex, key: Uint8Array): Attached
  status(): SyncStatus
  /** After `stopped`: the files are to be deleted on the other side, too, or brought back. */
  answer(folder: string, meaning: 'delete' | 'restore'): void
  close(): Promise<void>
}

export interface Attached {
  /** Nothing is left to do in either direction, and the application may start. Rejects if the connection ends before. */
  readonly synced: Promise<void>
  /** Why the connection has ended. */
  readonly ended: Promise<Error>
  /** Everything that happened here until now has been acknowledged. Rejects if the connection ends before. */
  settled(): Promise<void>
  close(): void
}

/** Starts reading and watching the folders; they are synchronized as soon as a connection is attached. */
export function createSync(options: SyncOptions): SyncEngine {
  return new Engine(options)
}

const CREDIT = 8 << 20
const PROGRESS_INTERVAL = 200
const CONFLICTS = 200
const LEFT_OUT = 20
/** Milliseconds without another change after which ignore files are read again. */
const REREAD = 20

class Engine implements SyncEngine, FolderWorld {
  readonly disk: Disk
  readonly clock: SyncClock
  readonly rules
  readonly direction
  readonly compression
  readonly conflicts: ConflictFolder
  readonly deleted: DeletedFiles
  credit = new Credit(CREDIT)
  ahead = 0
  link: SyncLink | undefined
  readonly #options: SyncOptions
  readonly #folders: readonly FolderSync[]
  readonly #client = randomUUID()
  readonly #conflicts: SyncConflict[] = []
  #attachment: Attachment | undefined
  #volume: string | undefined
  #seen = 0
  /** The agent's trees that we have as a whole; with others, or half of them, all of it is sent. */
  #instance: string | undefined
  #sent = 0
  #isClosed = false
  readonly #saver: BaseSaver
  #cancelProgress: (() => void) | undefined
  /** Folders with other ignore rules, which wait for what is on its way. */
  readonly #changing = new Map<FolderSync, IgnoreSource>()
  #cancelReread: (() => void) | undefined
  readonly #full: FullDisks
  #isWorking = false
  #worksAgain = false

  constructor(options: SyncOptions) {
    this.#options = options
    this.disk = options.disk ?? nodeDisk
    this.clock = options.clock ?? systemClock
    this.direction = options.direction
    this.compression = options.compression
    const platform = options.platform ?? process.platform
    const isWindows = platform === 'win32'
    this.rules = { windows: isWindows, foldsCase: isWindows || platform === 'darwin' }
    this.conflicts = new ConflictFolder(this.disk, `${options.stateFolder}/conflicts`)
    this.#full = new FullDisks(this.clock, event => options.on(event))
    this.deleted = new DeletedFiles(this.disk, this.clock, `${options.stateFolder}/deleted`)
    this.#folders = options.folders.map(({ name, local, ignores, readIgnores = () => ignores, file, own }) => {
      const root = isWindows ? local.replaceAll('\\', '/') : local
      return new FolderSync(
        {
          name,
          isMountedFile: file !== undefined,
          root,
          ignores,
          own: own ?? [],
          readIgnores,
          recursive: platform !== 'linux',
          rescanInterval: options.rescanInterval,
          baseFile: this.#baseFile(name, root),
        },
        this,
      )
    })
    this.#saver = new BaseSaver(this.clock, this.#folders)
    for (const folder of this.#folders) void folder.start()
  }

  attach(stream: Duplex, key: Uint8Array): Attached {
    this.#attachment?.link.end(new Error('another connection has taken its place'))
    const attachment = new Attachment(this.#folders, () => this.rested())
    const { clock } = this
    const link = new SyncLink({
      stream,
      key,
      clock,
      welcomed: welcome => this.#welcome(link, welcome),
      received: frame => this.#receive(link, frame),
      ended: error => this.#cut(link, attachment, error),
    })
    attachment.link = link
    this.#attachment = attachment
    return attachment
  }

  status(): SyncStatus {
    const sum = (value: (folder: FolderSync) => number) => this.#folders.reduce((all, one) => all + value(one), 0)
    const files = sum(({ state }) => state.agreedFiles)
    const bytes = sum(({ state }) => state.agreedBytes)
    const left = this.#folders.map(({ state }) => leftToDo(state))
    const filesLeft = left.reduce((all, one) => all + one.files, 0)
    const bytesLeft = left.reduce((all, one) => all + one.bytes, 0)
    const current = this.#folders.map(folder => folder.current).find(one => one !== undefined)
    const done = bytes + (current?.done ?? 0)
    const all = bytes + bytesLeft
    const isDone = filesLeft === 0
    const leftOut = this.#folders.map(folder => folder.leftOut())
    return {
      state: this.#state(),
      percent: isDone && this.#isIdle ? 100 : Math.min(99, all === 0 ? 0 : Math.floor((100 * done) / all)),
      files,
      bytes,
      filesLeft,
      bytesLeft: Math.max(0, bytesLeft - (current?.done ?? 0)),
      sentBytes: this.#sent + (this.#attachment?.link.connection.sent ?? 0),
      ...(current && { current: { ...current } }),
      problems: this.#folders.flatMap(({ state }) => [...state.problems.values()]),
      conflicts: [...this.#conflicts],
      unwatched: this.#folders.flatMap(({ root, state }) => [
        ...[...state.live.watchers.unwatched].map(folder => placeIn(root, folder)),
        ...state.unwatchedRemote.map(folder => `${folder || '.'} in the container`),
      ]),
      leftOut: {
        count: leftOut.reduce((all, { count }) => all + count, 0),
        paths: leftOut.flatMap(({ paths }) => paths).slice(0, LEFT_OUT),
      },
    }
  }

  #state(): SyncStatus['state'] {
    if (this.#folders.some(({ stopped }) => stopped)) return 'stopped'
    if (!this.#attachment || this.#attachment.link.connection.isEnded) return 'disconnected'
    if (!this.link || !this.#folders.every(({ state }) => state.isScanned)) return 'scanning'
    return this.#isIdle ? 'synced' : 'syncing'
  }

  get #isIdle(): boolean {
    return this.link !== undefined && this.#folders.every(folder => folder.isIdle)
  }

  answer(folder: string, meaning: 'delete' | 'restore'): void {
    this.#folders.find(({ name }) => name === folder)?.answer(meaning)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelProgress?.()
    this.#cancelReread?.()
    this.#full.close()
    this.#attachment?.link.end(new Error('the sync was closed'))
    for (const folder of this.#folders) folder.close()
    await this.#saver.close()
    for (const { state } of this.#folders) state.saved.close()
  }

  // What the folders tell

  report(event: FolderEvent): void {
    if (event.kind === 'conflict') {
      this.#conflicts.push(event)
      if (this.#conflicts.length > CONFLICTS) this.#conflicts.shift()
    }
    if (event.kind === 'problem' || event.kind === 'solved') {
      const folder = this.#folders.find(({ state }) => state.name === event.problem.folder)
      if (folder && this.#full.hear(folder.state, event.problem)) return
    }
    this.#options.on(event)
  }

  agreed(): void {
    this.#saver.changed()
  }

  /** Folders of this machine that were synchronized under the same name have files of their own. */
  #baseFile(name: string, root: string): string {
    const place = createHash('sha256').update(root).digest('hex').slice(0, 12)
    return `${this.#options.stateFolder}/base-${name}-${place}.json.gz`
  }

  rested(): void {
    if (this.#isClosed) return
    this.#progress()
    if (this.#isWorking) {
      this.#worksAgain = true
      return
    }
    this.#isWorking = true
    // A mistake of ours ends the connection, whose owner reports it.
    this.#work().catch(error => {
      this.#isWorking = false
      this.#attachment?.link.end(error as Error)
    })
  }

  async #work(): Promise<void> {
    do {
      this.#worksAgain = false
      await Promise.all(this.#folders.map(folder => folder.work()))
      this.#changeIgnores()
    } while (this.#worksAgain && !this.#isClosed)
    this.#isWorking = false
    if (this.#isIdle) void this.#openGate()
  }

  // Ignore rules

  get isPaused(): boolean {
    return this.#changing.size > 0 || this.#cancelReread !== undefined
  }

  rulesMayHaveChanged(): void {
    if (this.#isClosed) return
    this.#cancelReread?.()
    this.#cancelReread = this.clock.after(REREAD, () => {
      this.#cancelReread = undefined
      for (const folder of this.#folders) {
        const source = folder.newIgnores()
        if (source) this.#changing.set(folder, source)
        else this.#changing.delete(folder)
      }
      this.rested()
    })
  }

  /** The agent reads its folders again, too, over the same connection. */
  #changeIgnores(): void {
    const { link } = this
    const isConnecting = !link && this.#attachment !== undefined && !this.#attachment.link.connection.isEnded
    if (this.#changing.size === 0 || isConnecting || !this.#folders.every(folder => folder.isStill)) return
    for (const [folder, source] of this.#changing) folder.setIgnores(source)
    this.#changing.clear()
    this.#instance = undefined
    if (!link) return
    this.link = undefined
    this.#attachment?.snapshots.clear()
    this.#start(link, true)
  }

  /** Both queues are empty: the application may start. */
  async #openGate(): Promise<void> {
    const { link } = this
    const attachment = this.#attachment
    if (!link || !attachment || attachment.isOpening) return
    attachment.isOpening = true
    try {
      await link.request('gate', {})
      this.#progress()
      attachment.resolve()
    } catch {
      // The connection has ended, and says so itself.
    }
  }

  #progress(): void {
    if (this.#cancelProgress || this.#isClosed) return
    this.#cancelProgress = this.clock.after(PROGRESS_INTERVAL, () => {
      this.#cancelProgress = undefined
      const status = this.status()
      this.#options.on({ kind: 'progress', status })
      if (status.state === 'syncing' && this.link) this.#progress()
    })
  }

  // The connection

  #welcome(link: SyncLink, { volume, ahead, instance }: Welcome): void {
    this.ahead = ahead
    if (volume !== this.#volume) this.#takeVolume(volume)
    this.#start(link, this.#instance !== instance)
  }

  #start(link: SyncLink, all: boolean): void {
    link.connection.send('start', {
      client: this.#client,
      seen: this.#seen,
      all,
      rescan: this.#options.rescanInterval,
      folders: this.#folders.map(({ name, ignores }) => ({ name, ignores })),
    })
  }

  /** Another volume has nothing that both sides have agreed on: what is not there was not deleted. */
  #takeVolume(volume: string): void {
    const isFirst = this.#volume === undefined
    this.#volume = volume
    this.#instance = undefined
    for (const folder of this.#folders) {
      if (!isFirst) folder.forget()
      if (this.#options.reset && isFirst) folder.state.saved.begin(volume)
      else folder.load(volume)
    }
  }

  #receive(link: SyncLink, { type, header }: Frame): void {
    if (link !== this.#attachment?.link) return
    switch (type) {
      case 'snapshot': {
        const folder = this.#folder(header)
        if (!this.#attachment.snapshots.has(folder)) {
          this.#attachment.snapshots.add(folder)
          this.#instance = undefined
          folder.container.beginSnapshot()
        }
        folder.container.set(fields.list(header, 'entries'), true)
        folder.container.setUnreadable(fields.list(header, 'unreadable').map(String))
        return
      }
      case 'started':
        this.#started(link, header)
        return
      case 'changed':
        this.#folder(header).container.set(fields.list(header, 'entries'), false)
        this.#seen = fields.count(header, 'seq')
        link.connection.send('seen', { seq: this.#seen })
        this.rested()
        return
      case 'left-out':
        this.#folder(header).container.setLeftOut(fields.count(header, 'count'), fields.list(header, 'paths'))
        this.#progress()
        return
      case 'own':
        this.#folder(header).setOwn(fields.list(header, 'paths').map(String))
        this.rested()
        return
      case 'unwatched':
        this.#folder(header).state.setUnwatchedRemote(
          fields.list(header, 'folders').map(String),
          fields.text(header, 'limit'),
        )
        return
      default:
        throw new Error(`a message of the kind \`${type}\` was not expected`)
    }
  }

  #started(link: SyncLink, header: Frame['header']): void {
    const own = fields.object(header['own'])
    for (const folder of this.#folders)
      folder.setOwn((own[folder.name] as readonly unknown[] | undefined)?.map(String) ?? [])
    if (header['resumed'] !== true) {
      this.#seen = 0
      for (const folder of this.#folders) {
        if (!this.#attachment!.snapshots.has(folder)) folder.container.beginSnapshot()
        folder.container.endSnapshot()
      }
    }
    this.#instance = fields.text(header, 'instance')
    this.link = link
    this.rested()
  }

  #folder(header: Frame['header']): FolderSync {
    const name = fields.text(header, 'folder')
    const folder = this.#folders.find(one => one.name === name)
    if (!folder) throw new Error(`there is no folder \`${name}\``)
    return folder
  }

  #cut(link: SyncLink, attachment: Attachment, error: Error): void {
    this.#sent += link.connection.sent
    attachment.end(error)
    if (attachment !== this.#attachment) return
    this.link = undefined
    this.credit = new Credit(CREDIT)
    for (const folder of this.#folders) folder.cut()
    this.rested()
  }
}

/** One connection, as the caller sees it. */
class Attachment implements Attached {
  link!: SyncLink
  isOpening = false
  readonly snapshots = new Set<FolderSync>()
  readonly synced: Promise<void>
  readonly ended: Promise<Error>
  resolve!: () => void
  #reject!: (error: Error) => void
  #end!: (error: Error) => void
  readonly #folders: readonly FolderSync[]
  readonly #work: () => void

  constructor(folders: readonly FolderSync[], work: () => void) {
    this.#folders = folders
    this.#work = work
    this.synced = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.#reject = reject
    })
    this.ended = new Promise(resolve => {
      this.#end = resolve
    })
    // Who waits for the end only need not handle this one.
    this.synced.catch(() => {})
  }

  async settled(): Promise<void> {
    const done = this.synced.then(async () => {
      await Promise.all(this.#folders.map(folder => folder.settled(this.#work)))
    })
    await Promise.race([done, this.ended.then(error => Promise.reject(error))])
  }

  close(): void {
    this.link.end(new Error('the connection was closed'))
  }

  end(error: Error): void {
    this.#reject(error)
    this.#end(error)
  }
}
