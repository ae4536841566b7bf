import type { BuildEvent } from '../../../builds/events.ts'
import { BuildProgress } from '../../../builds/progress.ts'
import { printableText } from '../../../compiler/values/printable.ts'
import { drawsOn, type Io, type Output, wantsColour } from '../io.ts'
import { cleanText } from '../log-text.ts'
import type { Progress } from '../progress/events.ts'
import { jsonBuilds } from './json.ts'
import { liveBuilds } from './live.ts'
import { plainBuilds } from './plain.ts'

/** Formats for build progress: the values of `--progress`. */
export type BuildForm = 'auto' | 'tty' | 'plain' | 'json'

/** Returns a display of builds on standard error. `auto` draws on a terminal and otherwise prints lines. */
export function buildDisplay(io: Io, form: BuildForm, seconds: () => number): Progress<BuildEvent> {
  const [mask, maskOutput] = masksOf(io)
  const colour = wantsColour(io.stderr, io.env)
  if (form === 'json') return jsonDisplay(io, io.stderr, seconds)
  if (form === 'plain' || (form === 'auto' && !drawsOn(io)))
    return plainBuilds(io.stderr, { progress: new BuildProgress(mask, maskOutput), seconds, colour })
  // Drawn text is not escaped later, so escape it here.
  const clean = (text: string) => printableText(cleanText(text, false))
  const progress = new BuildProgress(
    text => clean(mask(text)),
    text => clean(maskOutput(text)),
  )
  return liveBuilds(io.stderr, { progress, seconds, colour })
}

/**
 * Returns a display that prints one JSON object per line, on standard output if the objects are the output of a
 * command.
 */
export const jsonDisplay = (io: Io, output: Output, seconds: () => number): Progress<BuildEvent> =>
  jsonBuilds(output, { progress: new BuildProgress(...masksOf(io)), seconds })

/** Returns two functions that mask secrets: one for devctl's own messages, and one for the output of build steps. */
const masksOf = ({ secrets }: Io) =>
  [(text: string) => secrets?.mask(text) ?? text, (text: string) => secrets?.maskOutput(text) ?? text] as const
