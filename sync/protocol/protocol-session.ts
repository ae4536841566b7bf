import { randomUUID } from 'node:crypto'
import * as fields from '../core/fields.ts'
import type { FolderSync } from '../session/folder-sync.ts'
import type { Frame } from './frames.ts'
import type { SyncLink, Welcome } from './link.ts'

export interface ProtocolSessionOptions {
  readonly folders: readonly FolderSync[]
  /** Interval between two periodic full scans, in seconds; 0 disables them. */
  readonly rescanInterval: number
  /** True to discard the agreed state of earlier sessions. */
  readonly reset: boolean
  /** Called when the agent has reported the contents of the container, so that work over this connection can begin. */
  readonly started: (link: SyncLink) => void
  /** Called when there may be something to do. */
  readonly changed: () => void
  /** Called when the agent has reported something that only affects the status. */
  readonly told: () => void
}

/**
 * Handles the messages that the agent sends without a request. After a reconnect, resumes from the last known state if
 * possible.
 */
export class ProtocolSession {
  readonly #options: ProtocolSessionOptions
  readonly #client = randomUUID()
  #volume: string | undefined
  #seen = 0
  /**
   * Instance of the agent whose trees this side has received in full. Any other instance sends its full trees first.
   */
  #instance: string | undefined
  /** Folders whose full tree the agent is still sending. */
  readonly #snapshots = new Set<FolderSync>()

  constructor(options: ProtocolSessionOptions) {
    this.#options = options
  }

  welcome(link: SyncLink, { volume, instance }: Welcome): void {
    if (volume !== this.#volume) this.#takeVolume(volume)
    this.#start(link, this.#instance !== instance)
  }

  /**
   * Starts over after the ignore rules have changed: the agent scans its folders again, over the existing connection if
   * there is one.
   */
  startAgain(link: SyncLink | undefined): void {
    this.#instance = undefined
    if (link) this.#start(link, true)
  }

  #start(link: SyncLink, all: boolean): void {
    const { folders, rescanInterval } = this.#options
    this.#snapshots.clear()
    link.connection.send('start', {
      client: this.#client,
      seen: this.#seen,
      all,
      rescan: rescanInterval,
      folders: folders.map(({ name, ignores }) => ({ name, ignores })),
    })
  }

  /** Switches to a volume. For a new volume, no agreed state exists, so a missing file does not count as deleted. */
  #takeVolume(volume: string): void {
    const { folders, reset } = this.#options
    const isFirst = this.#volume === undefined
    this.#volume = volume
    this.#instance = undefined
    for (const folder of folders) {
      if (!isFirst) folder.forget()
      if (reset && isFirst) folder.state.saved.begin(volume)
      else folder.load(volume)
    }
  }

  receive(link: SyncLink, { type, header }: Frame): void {
    const { changed, told } = this.#options
    switch (type) {
      case 'snapshot':
        this.#snapshot(header)
        return
      case 'started':
        this.#started(link, header)
        return
      case 'changed':
        this.#folder(header).container.set(fields.list(header, 'entries'), false)
        this.#seen = fields.count(header, 'seq')
        link.connection.send('seen', { seq: this.#seen })
        changed()
        return
      case 'left-out':
        this.#folder(header).container.setLeftOut(fields.count(header, 'count'), fields.list(header, 'paths'))
        told()
        return
      case 'own':
        this.#folder(header).setOwn(fields.list(header, 'paths').map(String))
        changed()
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

  #snapshot(header: Frame['header']): void {
    const folder = this.#folder(header)
    if (!this.#snapshots.has(folder)) {
      this.#snapshots.add(folder)
      this.#instance = undefined
      folder.container.beginSnapshot()
    }
    folder.container.set(fields.list(header, 'entries'), true)
    folder.container.setUnreadable(fields.list(header, 'unreadable').map(String))
  }

  #started(link: SyncLink, header: Frame['header']): void {
    const { folders, started } = this.#options
    const own = fields.object(header['own'])
    for (const folder of folders) folder.setOwn((own[folder.name] as readonly unknown[] | undefined)?.map(String) ?? [])
    if (header['resumed'] !== true) {
      this.#seen = 0
      for (const folder of folders) {
        if (!this.#snapshots.has(folder)) folder.container.beginSnapshot()
        folder.container.endSnapshot()
      }
    }
    this.#instance = fields.text(header, 'instance')
    started(link)
  }

  #folder(header: Frame['header']): FolderSync {
    const name = fields.text(header, 'folder')
    const folder = this.#options.folders.find(one => one.name === name)
    if (!folder) throw new Error(`there is no folder \`${name}\``)
    return folder
  }
}
