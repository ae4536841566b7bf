import type { LogLineEvent, ShownService } from '../../../../../platform/api/environments.ts'
import type { MinutesAgo } from '../times.ts'

const REQUESTS = [
  '\u001b[32mready\u001b[0m on http://0.0.0.0:8080 in 213 ms',
  'GET / \u001b[32m200\u001b[0m 3 ms',
  'GET /cart \u001b[32m200\u001b[0m 12 ms',
  'POST /orders \u001b[1;31m500\u001b[0m 31 ms',
  'GET /health \u001b[32m200\u001b[0m 1 ms',
]
const JOBS = ['waiting for jobs', 'invoice 4711: sent', 'invoice 4712: \u001b[33mretry 1 of 3\u001b[0m']
const DATABASE = ['database system is ready to accept connections', 'checkpoint starting: time', 'checkpoint complete']
const BROKEN = [
  'Loading content from /site/posts',
  "Error: ENOENT: no such file or directory, open '/site/config.json'",
]

const TEXTS: Readonly<Record<string, readonly string[]>> = { worker: JOBS, db: DATABASE, cache: DATABASE }

const textsOf = ({ name, state }: ShownService): readonly string[] =>
  state === 'failed' ? BROKEN : (TEXTS[name] ?? REQUESTS)

const lineOf = ({ name }: ShownService, time: string, text: string): LogLineEvent => ({
  type: 'line',
  service: name,
  source: `${name}-j2fnt`,
  time,
  text,
})

/** The log of a service until now. */
export function sampleLog(at: MinutesAgo, service: ShownService): readonly LogLineEvent[] {
  const { name, state } = service
  if (state === 'asleep') return [{ type: 'note', service: name, text: `\`${name}\` is asleep` }]
  const texts = textsOf(service)
  const lines = texts.map((text, index) => lineOf(service, at(texts.length - index), text))
  if (state !== 'failed') return lines
  return [
    ...lines,
    {
      type: 'note',
      service: name,
      source: `${name}-j2fnt`,
      text: 'the container exited with code 1, and starts again',
    },
  ]
}

/** Returns a further line of a service, for the log while it is followed; undefined if the service is silent. */
export function nextLine(service: ShownService, number: number, time: string): LogLineEvent | undefined {
  const [, ...texts] = textsOf(service)
  const text = texts[number % texts.length]
  return service.state === 'ready' && text !== undefined ? lineOf(service, time, text) : undefined
}
