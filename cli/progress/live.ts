import { createLogUpdate } from 'log-update'
import { readableDuration } from '../duration-option.ts'
import { type Io, wantsColour } from '../io.ts'
import type { Progress, ProgressEvent } from './progress.ts'

/** A line of the display: a step of the command, or a service. */
interface Line {
  readonly mark: 'working' | 'done' | 'failed' | 'waiting'
  readonly text: string
  /** Seconds since the start at which its work began, and ended. */
  readonly began: number
  readonly ended?: number
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MILLISECONDS = 100

/** A display on a terminal that is drawn anew while things change: a line for each step and service (design/experience.md). */
export function liveProgress(io: Io, seconds: () => number): Progress {
  // What log-update needs of a stream is what our output has.
  const draw = createLogUpdate(io.stderr as unknown as NodeJS.WritableStream)
  const lines = new Map<string, Line>()
  const colour = wantsColour(io.stderr, io.env)
  let frame = 0
  let timer: NodeJS.Timeout | undefined
  const show = () => draw(textOf(lines, frame, colour, io.stderr.columns || 80))
  const start = () => {
    timer ??= setInterval(() => {
      frame++
      show()
    }, FRAME_MILLISECONDS).unref()
  }
  const stop = () => {
    clearInterval(timer)
    timer = undefined
  }
  return {
    tell(event) {
      if (event.type === 'note' || event.type === 'output') {
        draw.clear()
        io.stderr.write(event.type === 'note' ? ` ${event.text}\n` : ` ${event.command} | ${event.text}\n`)
      } else take(lines, event, seconds())
      start()
      show()
    },
    pause() {
      stop()
      if (lines.size === 0) return
      show()
      draw.done()
      lines.clear()
    },
  }
}

function take(lines: Map<string, Line>, event: ProgressEvent, now: number): void {
  if (event.type === 'step')
    lines.set(`step ${event.step}`, { mark: 'done', text: `${event.step}\0${event.text}`, began: now, ended: now })
  if (event.type !== 'waiting' && event.type !== 'status') return
  const key = `service ${event.service}`
  const before = lines.get(key)
  const text = event.type === 'waiting' ? `waits for ${event.for.join(', ')}` : event.text
  const mark =
    event.type === 'waiting'
      ? 'waiting'
      : event.state === 'waiting'
        ? 'working'
        : event.state === 'failed'
          ? 'failed'
          : 'done'
  // The time that a service takes is that of its own work.
  const began = before === undefined || before.mark === 'waiting' ? now : before.began
  lines.set(key, { mark, text: `${event.service}\0${text}`, began, ...(mark === 'done' && { ended: now }) })
}

function textOf(lines: ReadonlyMap<string, Line>, frame: number, colour: boolean, columns: number): string {
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text)
  const rows = [...lines.values()].map(line => ({ line, cells: line.text.split('\0') as [string, string] }))
  const width = Math.max(8, ...rows.map(({ cells: [name] }) => name.length))
  return rows
    .map(({ line, cells: [name, text] }) => {
      const mark = {
        done: paint(32, '✔'),
        failed: paint(31, '✘'),
        working: paint(36, FRAMES[frame % FRAMES.length]!),
        waiting: ' ',
      }[line.mark]
      const took =
        line.ended === undefined || line.ended === line.began
          ? ''
          : `  ${readableDuration((line.ended - line.began) * 1000)}`
      const room = columns - width - 6 - took.length
      const shown = text.length > room ? `${text.slice(0, Math.max(0, room - 1))}…` : text
      return ` ${mark} ${name.padEnd(width)}  ${line.mark === 'waiting' ? paint(2, shown) : shown}${paint(2, took)}`
    })
    .join('\n')
}
