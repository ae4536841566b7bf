import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { SyncClock } from '../core/clock.ts'
import { Credit } from '../core/credit.ts'
import { type Attached, Attachment } from '../protocol/attachment.ts'
import { SyncLink } from '../protocol/link.ts'
import { ProtocolSession } from '../protocol/protocol-session.ts'
import type { IgnoreSource } from '../scan/ignore-source.ts'
import { BaseSaver } from '../stage/base-saver.ts'
import { type Disk, nodeDisk } from '../stage/disk.ts'
import type { SyncProblem } from '../stage/problems.ts'
import { Trash } from '../stage/trash.ts'
import { ConflictFolder, type SyncConflict } from './conflicts.ts'
import type {
  FolderContext,
  FolderEvent,
  LargeArrival,
  LostFiles,
  ManyDeleted,
  ToolFileArrival,
} from './folder-state.ts'
import { FolderSync } from './folder-sync.ts'
import { type FullDiskEvent, FullDisks } from './full-disks.ts'
import { RuleChanges } from './rule-changes.ts'
import { type SyncStatus, toStatus } from './sync-status.ts'
import { systemClock } from './system-clock.ts'

/** Folder of the laptop, and the rules for paths that are not synchronized. */
export interface LocalSyncFolder {
  /** Name in the agent's configuration. */
  readonly name: string
  /** Absolute path of the folder. */
  readonly local: string
  /** Ignore rules, as `ignoreSource` reads them. */
  readonly ignores: IgnoreSource
  /**
   * Reads the ignore rules again after one of their files has changed; the new rules then apply to the running session.
   */
  readonly readIgnores?: () => IgnoreSource
  /** Name of the only synchronized file in the folder, if the container mounts just that file. */
  readonly file?: string
  /** Paths in the folder that are never synchronized, in neither direction. */
  readonly own?: readonly string[]
  /**
   * Paths in the folder that determine what runs on this machine. Changes of the container to these paths stay in the
   * container.
   */
  readonly onlyHere?: readonly string[]
}

export interface SyncOptions {
  readonly folders: readonly LocalSyncFolder[]
  /**
   * Folder in which this session keeps the agreed state of both sides, and files that lost a conflict or were deleted.
   */
  readonly stateFolder: string
  /** Direction of the synchronization; with `up`, changes in the container stay in the container. */
  readonly direction: 'both' | 'up'
  readonly compression: boolean
  /** Interval between two periodic full scans, in seconds; 0 disables them. */
  readonly rescanInterval: number
  /** True to discard the agreed state of earlier sessions. */
  readonly reset: boolean
  readonly on: (event: SyncEvent) => void
  readonly disk?: Disk
  readonly clock?: SyncClock
  readonly platform?: NodeJS.Platform
}

export type SyncEvent =
  /** Progress, at most five times per second while there is something to do, and once when nothing is left. */
  | { readonly kind: 'progress'; readonly status: SyncStatus }
  | { readonly kind: 'problem' | 'solved'; readonly problem: SyncProblem }
  | ({ readonly kind: 'conflict' } & SyncConflict)
  | LargeArrival
  | ToolFileArrival
  | ManyDeleted
  /**
   * `stopped`: all files are missing on one side, or, if `loss` is set, the container has deleted many files. Nothing
   * is deleted on the other side before `answer` is called. `continued`: the folder is synchronized again.
   */
  | {
      readonly kind: 'stopped' | 'continued'
      readonly folder: string
      readonly side: 'local' | 'remote'
      readonly loss?: LostFiles
    }
  /** Reported once for a full disk instead of a problem for each file. */
  | FullDiskEvent

/** Laptop's half of the sync. */
export interface SyncEngine {
  /** Continues over a new connection to the agent, and ends the previous connection. */
  attach(stream: Duplex, key: Uint8Array): Attached
  status(): SyncStatus
  /** Answers `stopped`: the missing files are deleted on the other side, too (`delete`), or restored (`restore`). */
  answer(folder: string, meaning: 'delete' | 'restore'): void
  close(): Promise<void>
}

/** Starts reading and watching the folders. They are synchronized as soon as a connection is attached. */
export function createSync(options: SyncOptions): SyncEngine {
  return new Engine(options)
}

const CREDIT = 8 << 20
const PROGRESS_INTERVAL = 200
const CONFLICTS = 200

class Engine implements SyncEngine, FolderContext {
  readonly disk: Disk
  readonly clock: SyncClock
  readonly rules
  readonly direction
  readonly compression
  readonly conflicts: ConflictFolder
  readonly deleted: Trash
  credit = new Credit(CREDIT)
  ahead = 0
  link: SyncLink | undefined
  readonly #options: SyncOptions
  readonly #folders: readonly FolderSync[]
  readonly #conflicts: SyncConflict[] = []
  #attachment: Attachment | undefined
  #sent = 0
  #isClosed = false
  readonly #saver: BaseSaver
  readonly #conversation: ProtocolSession
  readonly #ruleChanges: RuleChanges
  #cancelProgress: (() => void) | undefined
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
    this.deleted = new Trash(this.disk, this.clock, `${options.stateFolder}/deleted`)
    this.#folders = options.folders.map(
      ({ name, local, ignores, readIgnores = () => ignores, file, own = [], onlyHere = [] }) => {
        const root = isWindows ? local.replaceAll('\\', '/') : local
        return new FolderSync(
          {
            name,
            isMountedFile: file !== undefined,
            root,
            ignores,
            own,
            onlyHere,
            readIgnores,
            recursive: platform !== 'linux',
            rescanInterval: options.rescanInterval,
            baseFile: this.#baseFile(name, root),
          },
          this,
        )
      },
    )
    this.#saver = new BaseSaver(this.clock, this.#folders)
    this.#conversation = new ProtocolSession({
      folders: this.#folders,
      rescanInterval: options.rescanInterval,
      reset: options.reset,
      started: link => this.#started(link),
      changed: () => this.rested(),
      told: () => this.#progress(),
    })
    this.#ruleChanges = new RuleChanges(this.clock, this.#folders, () => this.rested())
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
      welcomed: welcome => {
        this.ahead = welcome.ahead
        this.#conversation.welcome(link, welcome)
      },
      received: frame => {
        if (link === this.#attachment?.link) this.#conversation.receive(link, frame)
      },
      ended: error => this.#cut(link, attachment, error),
    })
    attachment.link = link
    this.#attachment = attachment
    return attachment
  }

  status(): SyncStatus {
    const connection = this.#attachment?.link.connection
    return toStatus(this.#folders, {
      isConnected: connection !== undefined && !connection.isEnded,
      isStarted: this.link !== undefined,
      sentBytes: this.#sent + (connection?.sent ?? 0),
      conflicts: this.#conflicts,
    })
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
    this.#ruleChanges.close()
    this.#full.close()
    this.#attachment?.link.end(new Error('the sync was closed'))
    for (const folder of this.#folders) folder.close()
    await this.#saver.close()
    for (const { state } of this.#folders) state.saved.close()
  }

  // Events of the folders

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

  /**
   * Returns the path of the base file, which depends on the name and on the local folder: different folders with the
   * same name have separate files.
   */
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
    // A bug ends the connection, and the owner of the connection reports it.
    this.#work().catch(error => {
      this.#isWorking = false
      this.#attachment?.link.end(error as Error)
    })
  }

  async #work(): Promise<void> {
    do {
      this.#worksAgain = false
      await Promise.all(this.#folders.map(folder => folder.work()))
      this.#changeRules()
    } while (this.#worksAgain && !this.#isClosed)
    this.#isWorking = false
    if (this.#isIdle) void this.#openGate()
  }

  get isPaused(): boolean {
    return this.#ruleChanges.isWaiting
  }

  rulesMayHaveChanged(): void {
    if (!this.#isClosed) this.#ruleChanges.expect()
  }

  #changeRules(): void {
    const { link } = this
    const isConnecting = !link && this.#attachment !== undefined && !this.#attachment.link.connection.isEnded
    if (isConnecting || !this.#ruleChanges.apply()) return
    this.link = undefined
    this.#conversation.startAgain(link)
  }

  /** Lets the application start, because nothing is left to do in either direction. */
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
      // The connection has ended, which is reported elsewhere.
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

  #started(link: SyncLink): void {
    this.link = link
    this.rested()
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
