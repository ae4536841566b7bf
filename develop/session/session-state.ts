import { join } from 'node:path'
import { visibleText } from '../../compiler/text/visible-text.ts'
import type { SkippedPathList } from '../../sync/core/skipped-paths.ts'
import type { SyncEvent } from '../../sync/session/sync.ts'
import type { SessionState } from '../control/messages.ts'
import type { UpEvent } from '../events.ts'
import { type LocalFolder, toPair } from '../files/sync-folders.ts'

/** Holds the current state of a session, and reports its changes. */
export class CurrentState {
  readonly #dev: string
  readonly #folders: readonly LocalFolder[]
  readonly #on: (event: UpEvent) => void
  #hasToldLeftOut = false
  state: SessionState = 'planning'
  text = ''
  /** Forwarded ports of this machine and their targets. */
  forwards: readonly { readonly local: string; readonly remote: string }[] = []
  /** Time of the last state change, in milliseconds since 1970. */
  since = Date.now()

  constructor(dev: string, folders: readonly LocalFolder[], on: (event: UpEvent) => void) {
    this.#dev = dev
    this.#folders = folders
    this.#on = on
  }

  set(state: SessionState, text: string): void {
    if (state === this.state && text === this.text) return
    if (state !== this.state) this.since = Date.now()
    this.state = state
    this.text = text
    if (state === 'stopped') return
    const shown = state === 'starting' ? text : text === '' ? state : `${state}: ${text}`
    this.#on({ type: 'status', service: this.#dev, state: state === 'ready' ? 'ready' : 'waiting', text: shown })
  }

  /** Reports a synchronization event if users should see it, and returns the reported event. */
  tellSync(event: SyncEvent): UpEvent | undefined {
    const told = this.#toEvent(event)
    if (told) this.#on(told)
    if (event.kind === 'progress' && event.status.state === 'synced') this.#tellLeftOut(event.status.leftOut)
    return told
  }

  /**
   * Reports only once that paths are not synchronized. Paths that programs create later, such as sockets, appear only
   * in the status.
   */
  #tellLeftOut({ count, paths: [first] }: SkippedPathList): void {
    if (this.#hasToldLeftOut) return
    this.#hasToldLeftOut = true
    if (!first) return
    const place = `${first.path}${first.side === 'remote' ? ' in the container' : ''}`
    const text =
      count === 1
        ? `${place} is not synchronized: ${first.message}`
        : `${count.toLocaleString('en')} paths are not synchronized, such as ${place}: ${first.message}; \`devctl status ${this.#dev}\` lists them`
    this.#on({ type: 'note', text: visibleText(text) })
  }

  #toEvent(event: SyncEvent): UpEvent | undefined {
    switch (event.kind) {
      case 'progress':
        return { type: 'sync', status: event.status, folders: this.#folders.map(toPair) }
      case 'problem':
        return { type: 'sync-problem', ...event.problem }
      case 'large':
        return { type: 'sync-large', path: event.path, size: event.size }
      case 'tool-file': {
        const folder = this.#folders.find(({ name }) => name === event.folder)
        if (!folder) return undefined
        const { path } = event
        return { type: 'sync-tool-file', path: join(folder.local, path), shown: join(folder.written, path) }
      }
      case 'conflict': {
        const { kind: _, ...conflict } = event
        return { type: 'sync-conflict', ...conflict }
      }
      case 'full':
      case 'room':
      case 'deleted': {
        const folder = this.#folders.find(({ name }) => name === event.folder)
        if (!folder) return undefined
        const pair = toPair(folder)
        if (event.kind === 'deleted')
          return { type: 'sync-deleted', folder: pair, files: event.files, kept: event.kept }
        if (event.kind === 'room') return { type: 'sync-room', folder: pair, side: event.side }
        const { kind: _, ...full } = event
        return { ...full, type: 'sync-full', folder: pair }
      }
      case 'stopped':
      case 'solved':
      case 'continued':
        return undefined
    }
  }
}
