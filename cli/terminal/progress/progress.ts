import type { BuildEvent } from '../../../builds/events.ts'
import { jsonText, printable, printableText } from '../../../compiler/values/printable.ts'
import type { LogLevel } from '../../command.ts'
import type { BuildForm } from '../build-progress/display.ts'
import { drawsOn, type Io } from '../io.ts'
import { NO_PROGRESS, type Progress, type StepEvent } from './events.ts'

/** Formats in which progress is shown: `text` for users, `json` for programs. */
export type ProgressForm = 'text' | 'json'

/**
 * Returns a display of progress on standard error: live on a terminal, otherwise one line per change. With `json`,
 * prints one object per line on standard output instead. `builds` is the format for builds. `now` returns milliseconds.
 */
export async function startProgress(
  io: Io,
  logLevel: LogLevel,
  form: ProgressForm,
  now: () => number,
  builds: BuildForm = 'auto',
): Promise<Progress> {
  const began = now()
  const seconds = () => (now() - began) / 1000
  if (form !== 'json' && logLevel === 'error') return NO_PROGRESS
  const { buildDisplay, jsonDisplay } = await import('../build-progress/display.ts')
  const shownBuilds = form === 'json' ? jsonDisplay(io, io.stdout, seconds) : buildDisplay(io, builds, seconds)
  return inTurn(await stepProgress(io, logLevel, form, seconds), shownBuilds, form !== 'json' && drawsOn(io))
}

/**
 * Combines a display of steps and a display of builds; only one of them is shown at a time. If `holds` is true, events
 * of services are held back while images are built, and shown afterwards.
 */
export function inTurn(steps: Progress<StepEvent>, builds: Progress<BuildEvent>, holds: boolean): Progress {
  let shown: Pick<Progress, 'pause' | 'above' | 'makeRoom'> = steps
  const running = new Set<string>()
  const held: StepEvent[] = []
  const show = (next: typeof shown) => {
    if (shown !== next) shown.makeRoom()
    shown = next
  }
  return {
    tell(event) {
      if (isOfBuild(event)) {
        show(builds)
        builds.tell(event)
        if (event.type === 'build-begun') running.add(event.name)
        if (event.type === 'build-ended') running.delete(event.name)
      } else if (holds && running.size > 0 && (event.type === 'status' || event.type === 'waiting')) {
        held.push(event)
      } else {
        show(steps)
        for (const one of held.splice(0)) steps.tell(one)
        steps.tell(event)
      }
    },
    pause: () => shown.pause(),
    makeRoom: () => shown.makeRoom(),
    above: print => shown.above(print),
  }
}

/** True for the events of builds. */
export const isOfBuild = (event: { readonly type: string }): event is BuildEvent => event.type.startsWith('build-')

async function stepProgress(
  io: Io,
  logLevel: LogLevel,
  form: ProgressForm,
  seconds: () => number,
): Promise<Progress<StepEvent>> {
  if (form === 'json')
    return {
      tell: event => io.stdout.write(`${jsonText({ time: seconds(), ...event })}\n`),
      pause: () => {},
      makeRoom: () => {},
      above: print => print(),
    }
  const shown = await shownProgress(io, logLevel, seconds)
  return { ...shown, tell: event => shown.tell(cleaned(event, io)) }
}

async function shownProgress(io: Io, logLevel: LogLevel, seconds: () => number): Promise<Progress<StepEvent>> {
  if (drawsOn(io)) {
    const { liveProgress } = await import('./live.ts')
    return liveProgress(io, seconds)
  }
  const { plainProgress } = await import('./plain.ts')
  return plainProgress(io, seconds, logLevel)
}

/**
 * Removes secrets and terminal control sequences from an event. This is done before displays truncate the texts,
 * because part of a secret would no longer be recognized.
 */
function cleaned<E extends StepEvent>(event: E, { secrets }: Io): E {
  // The output of programs may contain colors.
  const isOutput = event.type === 'output'
  const shown = isOutput ? printableText : (text: string) => printable(text.replaceAll(/[\n\t]/g, ' '))
  const clean = (value: unknown, mask: (text: string) => string | undefined): unknown =>
    typeof value === 'string'
      ? shown(mask(value) ?? value).replaceAll('\n', ' ')
      : Array.isArray(value)
        ? value.map(one => clean(one, mask))
        : value
  const maskOf = (key: string) => (text: string) =>
    isOutput && key === 'text' ? secrets?.maskOutput(text) : secrets?.mask(text)
  return Object.fromEntries(Object.entries(event).map(([key, value]) => [key, clean(value, maskOf(key))])) as E // the same keys
}
