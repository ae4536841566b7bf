import { displayWidth } from '../../../compiler/values/printable.ts'
import { readableDuration } from '../../options/duration.ts'
import { cleanText } from '../log-text.ts'

/** A line of the display: a step of the command, or a service. */
export interface Line {
  readonly mark: 'working' | 'done' | 'failed' | 'waiting'
  readonly name: string
  readonly text: string
  /** Seconds since the start at which its work began, and ended. */
  readonly began: number
  readonly ended?: number
}

export interface FrameOptions {
  readonly columns: number
  readonly rows: number
  readonly colour: boolean
  /** Which picture of the turning mark. */
  readonly turn: number
}

const TURNING = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** What is left out first where the terminal has too few rows. */
const COLLAPSE: readonly Line['mark'][] = ['done', 'waiting', 'working', 'failed']

/** The rows of a picture of these lines: never wider than the terminal, and one row less than it has, where the cursor stands. */
export function frameOf(lines: readonly Line[], { columns, rows, colour, turn }: FrameOptions): readonly string[] {
  const room = Math.max(0, rows - 1)
  const paint = (code: number, text: string) => (colour && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text)
  const shown = fitting(lines, room)
  const widest = Math.max(8, ...shown.map(({ name }) => widthOf(cleanText(name, false))))
  const width = Math.min(widest, Math.max(1, Math.floor(columns / 2)))
  const marks = {
    done: paint(32, '✔'),
    failed: paint(31, '✘'),
    working: paint(36, TURNING[turn % TURNING.length]!),
    waiting: ' ',
  }
  const all = shown.map(line => {
    const took = tookOf(line)
    const left = columns - width - 5
    // In a narrow terminal the words are worth more than the time.
    const time = left - widthOf(took) >= 12 ? took : ''
    const text = cut(cleanText(line.text, false), left - widthOf(time))
    const name = padded(cut(cleanText(line.name, false), width), width)
    if (columns < 6) return cut(name, columns)
    return ` ${marks[line.mark]} ${name}${left > 0 ? `  ${line.mark === 'waiting' ? paint(2, text) : text}${paint(2, time)}` : ''}`
  })
  if (shown.length === lines.length || room === 0) return all
  return [...all, paint(2, cut(`   … and ${hiddenText(lines, new Set(shown))}`, columns))]
}

/** The lines that there is room for, in their order; one row is kept for how many more there are. */
function fitting(lines: readonly Line[], room: number): readonly Line[] {
  if (lines.length <= room) return lines
  const hidden = new Set<Line>()
  const tooMany = lines.length - Math.max(0, room - 1)
  for (const mark of COLLAPSE)
    for (const line of lines) if (line.mark === mark && hidden.size < tooMany) hidden.add(line)
  return lines.filter(line => !hidden.has(line))
}

/** `16 more: 12 done, 4 waiting`. */
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

/** Columns that a text takes, with its colours. */
export const widthOf = (text: string): number => displayWidth(text.replaceAll(COLOUR, ''))

const COLOUR = /\u001b\[\d+m/g

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

const SEGMENTS = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** A text in as many columns: what does not fit is cut off between letters, with `…`. */
export function cut(text: string, columns: number): string {
  if (columns <= 0) return ''
  if (widthOf(text) <= columns) return text
  let width = 0
  let kept = ''
  for (const { segment } of SEGMENTS.segment(text)) {
    width += widthOf(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept}…`
}
