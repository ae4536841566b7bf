import type { OperationEvent } from '../../../api/events.ts'
import type { DevelopEvent } from '../../../develop/events.ts'
import type { Context } from '../../command.ts'
import { errorText } from '../error-text.ts'
import { drawsOn, wantsColour } from '../io.ts'
import { LogPrinter } from '../log-printer.ts'
import { toTerminal } from '../operation-events.ts'
import type { Progress } from '../progress/events.ts'
import { writeAsIs } from '../redacting.ts'
import { developNote, emptiedWarning, filesText, fullWarning } from './event-text.ts'

/**
 * Interval between two progress lines about the files of one container if there is no terminal to draw on, in
 * milliseconds.
 */
const PLAIN_EVERY = 2000

/** Placeholder for a time that is not printed. */
const NO_TIME = { seconds: 0, nanos: 0 }

/** State of one of several development containers, as its status line shows it. */
interface Shown {
  isReady: boolean
  files: number
  ports: readonly string[]
  /** Time of the last progress line about the files of the container, in milliseconds. */
  told: number
}

/**
 * Returns a handler for the events of several sessions. Shows a status line for each session until all of them are
 * ready, and the output of their programs, each line prefixed with the name of its container. `explain` turns an error
 * into one that users can understand.
 */
export function severalDisplay(
  context: Context,
  progress: Progress,
  options: {
    readonly signal: AbortSignal
    readonly now: () => number
    readonly closed: (reason: unknown) => void
    readonly explain: (error: unknown) => unknown
  },
): (event: OperationEvent, dev?: string) => void {
  const { io } = context
  const ofAll = toTerminal(context, progress, 'text')
  const isLive = drawsOn(io)
  const all = new Map<string, Shown>()
  let hasTaken = false
  const output = {
    ...io.stdout,
    isTTY: io.stdout.isTTY,
    writeAsIs: (text: string) => progress.above(() => writeAsIs(io.stdout, text)),
  }
  const { signal, closed } = options
  const printer = new LogPrinter(output, { colour: wantsColour(io.stdout, io.env), timestamps: false, signal, closed })
  const shownOf = (dev: string): Shown => {
    const shown = all.get(dev) ?? { isReady: false, files: 0, ports: [], told: Number.NEGATIVE_INFINITY }
    if (all.has(dev)) return shown
    all.set(dev, shown)
    printer.expect([...all.keys()].map(toSource))
    return shown
  }
  /** Stops drawing once all sessions are ready or have ended. */
  const rest = () => {
    if ([...all.values()].every(({ isReady }) => isReady)) progress.pause()
  }
  const tell = (dev: string, state: 'waiting' | 'ready' | 'complete' | 'failed', text: string) =>
    progress.tell({ type: 'status', service: dev, state, text })

  return (event, dev) => {
    if (dev === undefined) return ofAll(event)
    const shown = shownOf(dev)
    switch (event.type) {
      case 'output':
        return void printer.print(toSource(dev), { time: NO_TIME, text: event.text })
      case 'taken':
        // Removes the unfinished lines of the deploy, because services that it does not wait for are no longer
        // followed.
        if (!hasTaken) progress.makeRoom()
        hasTaken = true
        return tell(dev, 'waiting', event.text)
      case 'status':
        // A rebuild also deploys other services; skip their events.
        if (event.service !== dev) return
        shown.isReady = event.state === 'ready'
        tell(dev, event.state, shown.isReady ? readyText(shown) : event.text)
        return rest()
      case 'sync': {
        shown.files = event.status.files
        const isDue = isLive || options.now() - shown.told >= PLAIN_EVERY
        if (shown.isReady || event.status.state !== 'syncing' || !isDue) return
        shown.told = options.now()
        return tell(dev, 'waiting', `syncing: ${filesText(event.status)}`)
      }
      case 'forwards':
        shown.ports = [
          ...event.forwards.map(one => `${one.local} → ${one.remote}`),
          ...event.reverse.map(one => `${one.remote} of the container → ${one.local}`),
        ]
        return
      case 'ssh':
        return
      case 'note':
        return progress.tell({ type: 'note', text: `${dev}: ${event.text}` })
      case 'warning':
        return ofAll({ ...event, text: `${dev}: ${event.text}` })
      case 'sync-problem':
      case 'sync-conflict':
      case 'sync-large':
      case 'sync-tool-file':
      case 'sync-deleted':
      case 'sync-continued':
      case 'sync-room':
        return progress.tell({ type: 'note', text: `${dev}: ${developNote(event)}` })
      case 'sync-stopped':
      case 'sync-full': {
        const warning = event.type === 'sync-full' ? fullWarning(event) : emptiedWarning(event)
        progress.above(() => ofAll({ ...warning, text: `${dev}: ${warning.text}` }))
        return
      }
      case 'session-ended':
        shown.isReady = true
        showEnd(dev, event)
        return rest()
      default:
        return ofAll(event)
    }
  }

  function showEnd(dev: string, { end }: Extract<DevelopEvent, { readonly type: 'session-ended' }>): void {
    switch (end.kind) {
      case 'failed': {
        tell(dev, 'failed', end.error.message)
        const text = errorText(options.explain(end.error))
        progress.above(() => io.stderr.write(`${dev}: ${text}`))
        break
      }
      case 'stopped':
        tell(dev, 'complete', end.reason)
        break
      case 'ended':
        tell(dev, end.status === 0 ? 'complete' : 'failed', `its command has ended with status ${end.status}`)
    }
  }
}

/** Returns the text of a ready session: `ready · 9,812 files · localhost:8080 → 8080`. */
const readyText = ({ files, ports }: Shown): string =>
  ['ready', `${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'}`, ...ports].join(' · ')

const toSource = (dev: string) => ({ pod: dev, namespace: '', container: dev, service: dev, name: dev })
