import { readableDuration } from '../../../compiler/values/numbers/readable-duration.ts'
import { displayWidth } from '../../../compiler/values/printable.ts'
import { cleanText } from '../log-text.ts'

/** A line of the display, for a step of the command or a service. */
export interface Line {
  readonly mark: 'working' | 'done' | 'failed' | 'waiting'
  readonly name: string
  readonly text: string
  /** Times at which the work shown by this line began and ended, in seconds since the start of the command. */
  readonly began: number
  readonly ended?: number
}

export interface FrameOptions {
  readonly columns: number
  readonly rows: number
  readonly colour: boolean
  /** Index of the spinner's frame. */
  readonly turn: number
}

const TURNING = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** Marks in the order in which their lines are omitted if the terminal has too few rows. */
const COLLAPSE: readonly Line['mark'][] = ['done', 'waiting', 'working', 'failed']

/**
 * Returns the rows of a frame: never wider than the terminal, and one row fewer than its height, because the cursor
 * needs the last row.
 */
export function frameOf(lines: readonly Line[], { columns, rows, colour, turn }: FrameOptions): readonly string[] {
  const room = Math.max(0, rows - 1)
  const shown = fitting(lines, room)
  const width = nameWidth(shown, columns)
  const all = shown.map(line => rowOf(line, width, { columns, colour, turn }))
  if (shown.length === lines.length || room === 0) return all
  return [...all, paint(2, cut(`   … and ${hiddenText(lines, new Set(shown))}`, columns), colour)]
}

/**
 * Returns the width of the name column: the width of the longest name, at least 8, and at most half the width of the
 * terminal.
 */
export function nameWidth(lines: readonly Pick<Line, 'name'>[], columns: number): number {
  const widest = Math.max(8, ...lines.map(({ name }) => widthOf(cleanText(name, false))))
  return Math.min(widest, Math.max(1, Math.floor(columns / 2)))
}

/** Formats a line: its mark, its name padded to `width`, its text and its duration. */
export function rowOf(line: Line, width: number, { columns, colour, turn }: Omit<FrameOptions, 'rows'>): string {
  const took = tookOf(line)
  const left = columns - width - 5
  // The text matters more than the duration in a narrow terminal.
  const time = left - widthOf(took) >= 12 ? took : ''
  const text = cut(cleanText(line.text, false), left - widthOf(time))
  const name = padded(cut(cleanText(line.name, false), width), width)
  if (columns < 6) return cut(name, columns)
  const words = line.mark === 'waiting' ? paint(2, text, colour) : text
  return ` ${markOf(line.mark, colour, turn)} ${name}${left > 0 ? `  ${words}${paint(2, time, colour)}` : ''}`
}

/** Returns the symbol of a state, one column wide. */
export function markOf(mark: Line['mark'], colour: boolean, turn: number): string {
  if (mark === 'waiting') return ' '
  if (mark === 'done') return paint(32, '✔', colour)
  return mark === 'failed' ? paint(31, '✘', colour) : paint(36, TURNING[turn % TURNING.length]!, colour)
}

/** Formats a text with a color or weight (SGR code) if colors are enabled. */
export const paint = (code: number, text: string, colour: boolean): string =>
  colour && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text

/**
 * Returns the lines that fit into `room` rows, in their original order. If lines are omitted, reserves one row for
 * their number.
 */
function fitting(lines: readonly Line[], room: number): readonly Line[] {
  if (lines.length <= room) return lines
  const hidden = new Set<Line>()
  const tooMany = lines.length - Math.max(0, room - 1)
  for (const mark of COLLAPSE)
    for (const line of lines) if (line.mark === mark && hidden.size < tooMany) hidden.add(line)
  return lines.filter(line => !hidden.has(line))
}

/** Summarizes the omitted lines: `16 more: 12 done, 4 waiting`. */
function hiddenText(lines: readonly Line[], shown: ReadonlySet<Line>): string {
  const hidden = lines.filter(line => !shown.has(line))
  const parts = COLLAPSE.flatMap(mark => {
    const count = hidden.filter(line => line.mark === mark).length
    return count > 0 ? [`${count} ${mark}`] : []
  })
  return `${hidden.length} more: ${parts.join(', ')}`
}

const tookOf = ({ began, ended }: Line): string =>
  ended === undefined || ended === began ? '' : `  ${readableDuration((ended - began) * 1000)}`

/** Returns the width of a text in columns, ignoring color sequences. */
export const widthOf = (text: string): number => displayWidth(text.replaceAll(COLOUR, ''))

const COLOUR = /\u001b\[\d+m/g

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

let segmenter: Intl.Segmenter | undefined

/** Splits a text into graphemes. The segmenter takes 10 ms to load, and most texts fit without it. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  return segmenter.segment(text)
}

/** Truncates a text to a number of columns between graphemes, and marks the end with `…`. */
export function cut(text: string, columns: number): string {
  if (columns <= 0) return ''
  if (widthOf(text) <= columns) return text
  let width = 0
  let kept = ''
  for (const { segment } of segmentsOf(text)) {
    width += widthOf(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept}…`
}
