import type { LogEvent } from '../../operations/logs/events.ts'
import type { LogLevel } from '../command.ts'

/** The words for what happens beside logs; undefined for what is not worth a line at this level. */
export function logEventText(event: LogEvent, logLevel: LogLevel): string | undefined {
  if (logLevel === 'error') return undefined
  switch (event.type) {
    case 'left-out':
      return `\`${event.service}\` has \`attach: false\` and is left out; \`devctl logs ${event.service}\` shows it`
    case 'no-pod': {
      const { environment, namespace, isFiltered, follows } = event
      const whose = environment === undefined ? namespace : `${environment} in ${namespace}`
      return `there is no Pod of ${whose}${isFiltered ? ' that matches' : ''} yet${follows ? '; waiting for one' : ''}`
    }
    case 'too-many-logs':
      return `more than ${event.most} containers write: the others follow when one of these ends; a pattern makes them fewer`
    case 'container-ended': {
      const { name } = event.source
      const { code, reason } = event.exit
      if (code === 0 && logLevel !== 'info' && logLevel !== 'debug') return undefined
      const why = reason && reason !== 'Error' && reason !== 'Completed' ? ` (${reason})` : ''
      return `${name} ended with exit code ${code}${why}`
    }
    case 'log-unreadable':
      return `the log of ${event.source.name} cannot be read${event.follows ? ' now, trying again' : ''}: ${event.reason}`
    case 'log-note':
      return `${event.source.name}: ${event.text}`
  }
}
