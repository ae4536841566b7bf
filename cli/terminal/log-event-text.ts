import type { LogEvent } from '../../operations/logs/events.ts'
import type { LogLevel } from '../command.ts'

/** Returns the text of an event other than a log line; undefined if it is not printed at this log level. */
export function logEventText(event: LogEvent, logLevel: LogLevel): string | undefined {
  if (logLevel === 'error') return undefined
  switch (event.type) {
    case 'left-out':
      return `\`${event.service}\` has \`attach: false\` and is left out; \`devctl logs ${event.service}\` shows it`
    case 'no-pod': {
      const { environment, namespace, isFiltered, follows } = event
      const whose = environment === undefined ? namespace : `${environment} in ${namespace}`
      return `${whose} has no${isFiltered ? ' matching' : ''} Pods yet${follows ? '; waiting for Pods' : ''}`
    }
    case 'too-many-logs':
      return `more than ${event.most} containers have logs: the others follow when one of these ends; use a pattern to select fewer`
    case 'container-ended': {
      const { name } = event.source
      const { code, reason } = event.exit
      if (code === 0 && logLevel !== 'info' && logLevel !== 'debug') return undefined
      const why = reason && reason !== 'Error' && reason !== 'Completed' ? ` (${reason})` : ''
      return `${name} ended with exit code ${code}${why}`
    }
    case 'log-unreadable':
      return `could not read the log of ${event.source.name}${event.follows ? ', retrying' : ''}: ${event.reason}`
    case 'log-note':
      return `${event.source.name}: ${event.text}`
  }
}
