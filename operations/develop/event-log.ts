import type { OperationEvent } from '../events.ts'

/** An event as a line of the log of a session; undefined for those that come many times a second. */
export function logText(event: OperationEvent): string | undefined {
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
    case 'sync-stopped':
      return `stopped: all files of ${event.folder.local} are gone (${event.side})`
    case 'ssh':
      return `ssh: ${event.command}`
    case 'object':
      return `${event.action} ${event.object}`
    default:
      return undefined
  }
}
