import { printable } from '../../compiler/values/printable.ts'
import type { ClusterEvent } from '../../operations/events/events.ts'
import type { Context } from '../command.ts'
import type { EventsValues } from '../commands/events.ts'
import { writeObject } from '../terminal/objects.ts'
import { printsDiagnostics } from '../terminal/report.ts'
import { withProject } from './project-session.ts'
import { untilOutputCloses, watchOutput } from './until-output-closes.ts'

/**
 * Prints the events about the objects of an environment, and with `--follow` also new ones, until Ctrl-C or until the
 * reader closes the output.
 */
export async function showEvents(context: Context, options: EventsValues): Promise<number> {
  const values = { ...options, var: undefined, timeout: undefined, isEndless: options.follow }
  return withProject(context, values, (own, project, opened) =>
    untilOutputCloses(opened, async (session, closed) => {
      const { io, logLevel } = own
      const { events } = await import('../../operations/events/events.ts')
      let count = 0
      const print = (event: ClusterEvent) => {
        count++
        if (options.output === 'json') writeObject(io.stdout, { ...event })
        else io.stdout.write(`${lineOf(event)}\n`)
        watchOutput(io.stdout, closed)
      }
      await events({ workspace: io, session, on: printsDiagnostics(own) }, options, project, print)
      if (count === 0 && logLevel !== 'error') io.stderr.write('the cluster has no recent events about it\n')
      return 0
    }),
  )
}

/** Formats an event: `12:03:07  Warning  pod/web-0  BackOff: back-off restarting failed container (3 times)`. */
function lineOf({ time, type, object, reason, message, count }: ClusterEvent): string {
  const clock = time.slice(11, 19)
  const times = count > 1 ? ` (${count} times)` : ''
  return `${clock}  ${type.padEnd(7)}  ${printable(object)}  ${printable(`${reason}: ${message}`)}${times}`
}
