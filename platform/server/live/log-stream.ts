import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import { formatTime, type LogLine, type LogTime } from '../../../environment/logs/line.ts'
import { showLogs } from '../../../environment/logs/logs.ts'
import type { LogSource } from '../../../environment/logs/source.ts'
import type { LogLineEvent } from '../../api/environments.ts'
import type { StreamEvent } from '../handlers/handler.ts'
import { PAGES_OF_MEMBERS } from '../http/member-objects.ts'
import type { Room } from './object-cache.ts'
import { SentLines } from './sent-lines.ts'

/**
 * Maximum number of lines, and of their characters, that are buffered for the client. Reading pauses while the buffer
 * is full.
 */
const MOST_WAITING = 256
const MOST_CHARACTERS = 256 * 1024
/** Maximum length of a line in characters. */
const LONGEST = 16 * 1024
/**
 * Time span of the log, in milliseconds, that is read again when a client resumes, because lines of different
 * containers arrive out of order.
 */
const OVERLAP = 2000
/** Maximum number of lines of each container that are sent again to a client that resumes. */
const MOST_AGAIN = 10_000

export interface WantedLogs {
  readonly cluster: Cluster
  readonly namespace: string
  readonly environment: string | undefined
  readonly service: string | undefined
  /** Number of earlier lines of each container to send first. */
  readonly tail: number
  /** The id of the last line that the client received; undefined for a new client. */
  readonly after: string | undefined
  /** Memory budget for Pods that are watched. */
  readonly room: Room
  readonly now: () => number
}

/**
 * Yields the lines that services write, until the signal is aborted or no more lines can follow. A client can resume
 * from the id of each line. A line is read only when the buffer has room for it.
 */
export async function* logStream(wanted: WantedLogs, signal: AbortSignal): AsyncGenerator<StreamEvent<LogLineEvent>> {
  const { cluster, namespace, environment, service, tail, room, now } = wanted
  const sent = new SentLines(wanted.after, OVERLAP)
  const after = sent.resumed
  const end = new AbortController()
  const both = AbortSignal.any([signal, end.signal])
  const waiting: StreamEvent<LogLineEvent>[] = []
  let characters = 0
  const isFull = () => waiting.length >= MOST_WAITING || characters >= MOST_CHARACTERS
  let wakeReader = () => {}
  let wakeWriters: (() => void)[] = []
  const put = (event: StreamEvent<LogLineEvent>) => {
    waiting.push(event)
    characters += event.data.text.length
    wakeReader()
  }
  const print = async (source: LogSource, { time, text }: LogLine): Promise<void> => {
    if (sent.isKnown(source, time)) return
    while (isFull() && !both.aborted)
      await new Promise<void>(resolve => {
        wakeWriters.push(resolve)
      })
    put({ id: sent.add(source, time), data: toLine(source, time, text) })
  }
  const note = (source: LogSource | undefined, text: string) => {
    // If the buffer is full, notes are dropped in favor of lines.
    if (!isFull())
      put({ data: { type: 'note', ...(source && { service: source.service, source: source.name }), text } })
  }
  const wakeAll = () => {
    wakeReader()
    for (const wake of wakeWriters) wake()
    wakeWriters = []
  }
  both.addEventListener('abort', wakeAll)
  let isOver = false
  const reading = showLogs(
    {
      cluster,
      namespace,
      environment,
      range: after ? { since: Math.max(0, now() - 1000 * after.seconds) + OVERLAP, tail: MOST_AGAIN } : { tail },
      follow: true,
      longestLine: LONGEST,
      limits: {
        ...PAGES_OF_MEMBERS,
        ...room,
      },
      isWanted: source => service === undefined || source.service === service,
    },
    {
      clock: { now, every },
      signal: both,
      print,
      found() {},
      nothing: () => note(undefined, 'it has no container yet'),
      crowded: () => note(undefined, 'there are more containers than can be read at the same time'),
      ended: (source, { code }) => note(source, `ended with exit code ${code}`),
      troubled: source => note(source, 'its log cannot be read at the moment'),
      word: (source, text) => note(source, cut(text)),
    },
  )
  const over = reading.then(
    () => {
      isOver = true
      wakeReader()
    },
    (error: unknown) => {
      isOver = true
      wakeReader()
      throw error
    },
  )
  over.catch(() => {})
  try {
    for (;;) {
      const event = waiting.shift()
      if (event) {
        characters -= event.data.text.length
        // A waiting writer checks again whether the buffer has room.
        wakeWriters.shift()?.()
        yield event
      } else if (isOver || both.aborted) break
      else
        await new Promise<void>(resolve => {
          wakeReader = resolve
        })
    }
    if (!both.aborted) await over
  } finally {
    end.abort()
    both.removeEventListener('abort', wakeAll)
  }
}

const toLine = ({ service, name }: LogSource, time: LogTime, text: string): LogLineEvent => ({
  type: 'line',
  service,
  source: name,
  time: formatTime(time),
  text: cut(text),
})

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

function every(milliseconds: number, run: () => void): () => void {
  const timer = setInterval(run, milliseconds)
  return () => clearInterval(timer)
}
