import type { SyncEvent } from '../../sync/sync.ts'
import type { OperationEvent } from '../events.ts'
import type { SessionState } from './control/messages.ts'
import { type LocalFolder, toPair } from './sync-folders.ts'

/** The state of a session, which tells of its changes. */
export class CurrentState {
  readonly #dev: string
  readonly #folders: readonly LocalFolder[]
  readonly #on: (event: OperationEvent) => void
  state: SessionState = 'planning'
  text = ''
  /** The ports of this machine, and what they lead to. */
  forwards: readonly { readonly local: string; readonly remote: string }[] = []
  /** Milliseconds since 1970. */
  since = Date.now()

  constructor(dev: string, folders: readonly LocalFolder[], on: (event: OperationEvent) => void) {
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

  tellSync(event: SyncEvent): void {
    const told = this.#toEvent(event)
    if (told) this.#on(told)
  }

  #toEvent(event: SyncEvent): OperationEvent | undefined {
    switch (event.kind) {
      case 'progress':
        return { type: 'sync', status: event.status, folders: this.#folders.map(toPair) }
      case 'problem':
        return { type: 'sync-problem', ...event.problem }
      case 'conflict': {
        const { kind: _, ...conflict } = event
        return { type: 'sync-conflict', ...conflict }
      }
      case 'stopped':
      case 'solved':
      case 'continued':
        return undefined
    }
  }
}
