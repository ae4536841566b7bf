import { readableDuration } from '../../../compiler/values/numbers/readable-duration.ts'
import type { LogLevel } from '../../command.ts'
import type { Io } from '../io.ts'
import type { Progress, StepEvent } from './events.ts'

/**
 * Returns a display that prints a line for each state change, with the time since the start: ` 6.2 s db: StatefulSet
 * 1/1 ready`.
 */
export function plainProgress(io: Io, seconds: () => number, logLevel: LogLevel): Progress<StepEvent> {
  const isDetailed = logLevel === 'info' || logLevel === 'debug'
  const last = new Map<string, string>()
  return {
    tell(event) {
      if (event.type === 'status') {
        // A new state with the same text is not worth a line: `0/0 ready` before its controller has seen it, and after.
        if (last.get(event.service) === event.text) return
        last.set(event.service, event.text)
      }
      const text = textOf(event, isDetailed)
      if (text !== undefined) io.stderr.write(`${readableDuration(seconds() * 1000).padStart(9)}  ${text}\n`)
    },
    pause() {},
    makeRoom() {},
    above: print => print(),
  }
}

function textOf(event: StepEvent, isDetailed: boolean): string | undefined {
  switch (event.type) {
    case 'step':
      return `${event.step}: ${event.text}`
    case 'waiting':
      return `${event.service}: waits for ${event.for.join(', ')}`
    case 'status':
      return `${event.service}: ${event.text}`
    case 'note':
      return event.text
    case 'output':
      return `${event.command} | ${event.text}`
    case 'object':
      return isDetailed ? `${event.action} ${event.object}` : undefined
  }
}
