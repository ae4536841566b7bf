import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { visibleText } from '../../compiler/text/visible-text.ts'
import type { DevelopEvent, UpEvent } from '../events.ts'

/** Formats an event as a line of the session log; undefined for events that occur many times per second. */
export function logText(event: UpEvent): string | undefined {
  const text = textOf(event)
  return text === undefined ? undefined : visibleText(text)
}

function textOf(event: UpEvent): string | undefined {
  switch (event.type) {
    case 'status':
      return `${event.service}: ${event.text}`
    case 'step':
      return `${event.step}: ${event.text}`
    case 'taken':
      return `${event.dev}: ${event.text}`
    case 'note':
    case 'warning':
      return `${event.type}: ${event.text}`
    case 'sync-problem':
      return `problem: ${event.path} (${event.side}): ${event.message}`
    case 'sync-conflict':
      return `conflict: ${event.path}: the other version is in ${event.kept}`
    case 'sync-large':
      return `large: ${event.path} comes from the container (${event.size} bytes)`
    case 'sync-tool-file':
      return `tools: ${event.shown} was written by the container`
    case 'sync-stopped':
      return `stopped: ${lostFiles(event)} are gone (${event.side})`
    case 'sync-continued':
      return `continued: ${event.folder.local} is synchronized again`
    case 'sync-deleted':
      return `deleted: ${event.files} files of ${event.folder.local}, by the container; they are in ${event.kept}`
    case 'sync-full':
      return `full: ${event.files} files of ${event.folder.local} have no room (${event.side})`
    case 'sync-room':
      return `room: for all files of ${event.folder.local} (${event.side})`
    case 'ssh':
      return `ssh: ${event.command}`
    case 'object':
      return `${event.action} ${event.object}`
    default:
      return undefined
  }
}

/**
 * Describes the missing files when the synchronization of a folder stops: `all files of .` or `412 of 530 files of .`.
 */
export function lostFiles({
  folder,
  loss,
}: Pick<Extract<DevelopEvent, { readonly type: 'sync-stopped' }>, 'folder' | 'loss'>): string {
  const many = loss && loss.files < loss.of ? `${loss.files} of ${loss.of} files` : 'all files'
  return `${many} of ${folder.local}`
}

/** Log of `up` in the folder of a session, with one line per event and its time. */
export class SessionLog {
  readonly path: string
  readonly #mask: (text: string) => string

  /** Opens the log. `mask` removes secrets from a text. */
  constructor(folder: string, mask: (text: string) => string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.path = join(folder, 'up.log')
    this.#mask = mask
  }

  /** Writes a line. A full disk does not end the session. */
  write(text: string): void {
    try {
      if ((statSync(this.path, { throwIfNoEntry: false })?.size ?? 0) > LARGEST_LOG)
        renameSync(this.path, `${this.path}.1`)
      appendFileSync(this.path, `${new Date().toISOString()} ${this.#mask(text)}\n`, { mode: 0o600 })
    } catch {
      // The session is more important than its log.
    }
  }
}

/** Size in bytes at which a new log is started; the previous log is kept next to it. */
const LARGEST_LOG = 5_000_000
