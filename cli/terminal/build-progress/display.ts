import type { BuildEvent } from '../../../builds/events.ts'
import { BuildProgress } from '../../../builds/progress.ts'
import { printableText } from '../../../compiler/values/printable.ts'
import { drawsOn, type Io, type Output, wantsColour } from '../io.ts'
import { cleanText } from '../log-text.ts'
import type { Progress } from '../progress/events.ts'
import { jsonBuilds } from './json.ts'
import { liveBuilds } from './live.ts'
import { plainBuilds } from './plain.ts'

/** Ways to show builds, the values of `--progress`. */
export type BuildForm = 'auto' | 'tty' | 'plain' | 'json'

/** The display of builds in a form, on standard error. `auto` draws on a terminal, and prints lines elsewhere. */
export function buildDisplay(io: Io, form: BuildForm, seconds: () => number): Progress<BuildEvent> {
  const [mask, maskOutput] = masksOf(io)
  const colour = wantsColour(io.stderr, io.env)
  if (form === 'json') return jsonDisplay(io, io.stderr, seconds)
  if (form === 'plain' || (form === 'auto' && !drawsOn(io)))
    return plainBuilds(io.stderr, { progress: new BuildProgress(mask, maskOutput), seconds, colour })
  // Text that is drawn is not escaped afterwards.
  const clean = (text: string) => printableText(cleanText(text, false))
  const progress = new BuildProgress(
    text => clean(mask(text)),
    text => clean(maskOutput(text)),
  )
  return liveBuilds(io.stderr, { progress, seconds, colour })
}

/** Objects, a line each: on standard output where they are the output of a command. */
export const jsonDisplay = (io: Io, output: Output, seconds: () => number): Progress<BuildEvent> =>
  jsonBuilds(output, { progress: new BuildProgress(...masksOf(io)), seconds })

/** The masks for texts of devctl, and for the output of steps. */
const masksOf = ({ secrets }: Io) =>
  [(text: string) => secrets?.mask(text) ?? text, (text: string) => secrets?.maskOutput(text) ?? text] as const
