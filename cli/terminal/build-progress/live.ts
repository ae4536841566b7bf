import type { BuildEvent } from '../../../builds/events.ts'
import type { BuildView } from '../../../builds/progress.ts'
import type { Output } from '../io.ts'
import { cleanText } from '../log-text.ts'
import type { Progress } from '../progress/events.ts'
import { Screen } from '../progress/screen.ts'
import { buildFrame } from './frame.ts'
import type { DisplayOptions } from './plain.ts'
import { failureLines } from './text.ts'

const FRAME_MILLISECONDS = 100

/** Default number of columns and of rows for a terminal that does not report its size. */
const COLUMNS = 80
const ROWS = 24

/** Returns a display on a terminal that is redrawn while images are built. */
export function liveBuilds(output: Output, { progress, seconds, colour }: DisplayOptions): Progress<BuildEvent> {
  const screen = new Screen(output)
  let turn = 0
  let timer: NodeJS.Timeout | undefined
  const show = (isShort: boolean) => {
    const size = { columns: output.columns || COLUMNS, rows: output.rows || ROWS }
    screen.draw(buildFrame(progress.builds, { ...size, colour, turn, now: seconds(), isShort }))
  }
  const stop = () => {
    clearInterval(timer)
    timer = undefined
  }
  const pause = () => {
    stop()
    if (progress.builds.length === 0) return
    show(true)
    screen.done()
    for (const build of progress.builds)
      for (const line of endLines(build)) output.write(`${cleanText(line, colour)}\n`)
    progress.forgetEnded()
  }
  return {
    tell(event) {
      progress.take(event, seconds())
      // Status events arrive by the hundred, so the next frame shows them.
      timer ??= setInterval(() => {
        turn++
        show(false)
      }, FRAME_MILLISECONDS).unref()
      if (event.type !== 'build-status') show(false)
    },
    above(print) {
      screen.clear()
      print()
      if (progress.builds.length > 0) show(false)
    },
    pause,
    makeRoom() {
      if (progress.builds.every(({ state }) => state !== 'building')) return pause()
      stop()
      // The builds continue, and each one prints a line when it ends.
      screen.clear()
      screen.done()
    },
  }
}

/** Returns the lines printed below the last frame: warnings, and the last output of a failed step. */
function endLines(build: BuildView): readonly string[] {
  if (build.state === 'building') return []
  const prefix = build.name === '' ? '' : `${build.name}: `
  const warnings = build.warnings.map(text => `${prefix}warning: ${text}`)
  return build.state === 'failed' ? [...warnings, ...failureLines(build)] : warnings
}
