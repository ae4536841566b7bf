import { jsonText, printableText } from '../../../compiler/values/printable.ts'
import type { LogLevel } from '../../command.ts'
import type { Io } from '../io.ts'
import type { Progress, ProgressEvent } from './events.ts'

/** Ways to show what a command does. */
export type ProgressForm = 'text' | 'json'

/** Shows progress on standard error: live on a terminal, else a line for each change; with `json` an object a line on standard output. `now` is in milliseconds. */
export async function startProgress(
  io: Io,
  logLevel: LogLevel,
  form: ProgressForm,
  now: () => number,
): Promise<Progress> {
  const began = now()
  const seconds = () => (now() - began) / 1000
  if (form === 'json')
    return { tell: event => io.stdout.write(`${jsonText({ time: seconds(), ...event })}\n`), pause: () => {} }
  if (logLevel === 'error') return { tell: () => {}, pause: () => {} }
  const shown = await shownProgress(io, logLevel, seconds)
  return { ...shown, tell: event => shown.tell(cleaned(event, io)) }
}

async function shownProgress(io: Io, logLevel: LogLevel, seconds: () => number): Promise<Progress> {
  if (io.stderr.isTTY && io.env.TERM !== 'dumb' && !io.env.CI) {
    const { liveProgress } = await import('./live.ts')
    return liveProgress(io, seconds)
  }
  const { plainProgress } = await import('./plain.ts')
  return plainProgress(io, seconds, logLevel)
}

/** An event without secrets, and without what a terminal would obey: a display cuts its texts, and a part of a secret would not be known again. */
function cleaned<E extends ProgressEvent>(event: E, { secrets }: Io): E {
  const clean = (value: unknown): unknown =>
    typeof value === 'string'
      ? printableText(secrets?.mask(value) ?? value).replaceAll('\n', ' ')
      : Array.isArray(value)
        ? value.map(clean)
        : value
  return Object.fromEntries(Object.entries(event).map(([key, value]) => [key, clean(value)])) as E // the same keys
}
