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
