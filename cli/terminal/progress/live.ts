import { type Io, wantsColour } from '../io.ts'
import type { Progress, StepEvent } from './events.ts'
import { frameOf, type Line } from './frame.ts'
import { Screen } from './screen.ts'

const FRAME_MILLISECONDS = 100

/** Default number of columns and of rows for a terminal that does not report its size. */
const COLUMNS = 80
const ROWS = 24

/** Returns a display with a line for each step and service on a terminal, which is redrawn on each change. */
export function liveProgress(io: Io, seconds: () => number): Progress<StepEvent> {
  const { stderr } = io
  const screen = new Screen(stderr)
  const lines = new Map<string, Line>()
  /** Finished lines that `makeRoom` has left above the display. */
  const left = new Map<string, Line>()
  const colour = wantsColour(stderr, io.env)
  let turn = 0
  let timer: NodeJS.Timeout | undefined
  const show = () => {
    const [columns, rows] = [stderr.columns || COLUMNS, stderr.rows || ROWS]
    screen.draw(frameOf([...lines.values()], { columns, rows, colour, turn }))
  }
  const start = () => {
    timer ??= setInterval(() => {
      turn++
      show()
    }, FRAME_MILLISECONDS).unref()
  }
  const stop = () => {
    clearInterval(timer)
    timer = undefined
  }
  const above = (print: () => void) => {
    screen.clear()
    print()
    if (lines.size > 0) show()
  }
  return {
    tell(event) {
      if (event.type === 'note' || event.type === 'output')
        above(() => stderr.write(event.type === 'note' ? ` ${event.text}\n` : ` ${event.command} | ${event.text}\n`))
      else if (!take(lines, left, event, seconds())) return
      start()
      show()
    },
    above,
    pause() {
      stop()
      if (lines.size === 0) return
      show()
      screen.done()
      lines.clear()
    },
    makeRoom() {
      stop()
      for (const [key, line] of lines)
        if (line.mark === 'done' || line.mark === 'failed') left.set(key, line)
        else lines.delete(key)
      show()
      screen.done()
      lines.clear()
    },
  }
}

/** Updates the lines from an event. Returns false if the same line already stands above the display. */
function take(lines: Map<string, Line>, left: Map<string, Line>, event: StepEvent, now: number): boolean {
  const [key, line] = lineOf(lines, event, now)
  if (line === undefined) return true
  const above = left.get(key)
  if (above && above.text === line.text && above.mark === line.mark) return lines.delete(key)
  left.delete(key)
  lines.set(key, line)
  return true
}

function lineOf(lines: Map<string, Line>, event: StepEvent, now: number): readonly [string, Line?] {
  if (event.type === 'step')
    return [`step ${event.step}`, { mark: 'done', name: event.step, text: event.text, began: now, ended: now }]
  if (event.type !== 'waiting' && event.type !== 'status') return ['']
  const key = `service ${event.service}`
  const before = lines.get(key)
  const text = event.type === 'waiting' ? `waits for ${event.for.join(', ')}` : event.text
  const mark = event.type === 'waiting' ? 'waiting' : MARKS[event.state]
  // The duration only covers the last period of work: waiting does not count, and work after a finished line starts at
  // zero.
  if (before?.mark === 'done' && mark === 'done') return [key, { ...before, name: event.service, text }]
  const began = before === undefined || before.mark === 'waiting' || before.mark === 'done' ? now : before.began
  return [key, { mark, name: event.service, text, began, ...(mark === 'done' && { ended: now }) }]
}

const MARKS = { waiting: 'working', ready: 'done', complete: 'done', failed: 'failed' } as const
