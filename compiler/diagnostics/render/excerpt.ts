import type { Span } from '../../text/source.ts'
import { type Cell, toCells } from '../../values/printable.ts'

/** The printed line in which a span starts, and the line of blanks and carets below it. */
export interface Excerpt {
  /** Number of the line in the file, from 1. */
  readonly line: number
  readonly text: string
  readonly marks: string
}

const WIDTH = 100
/** Number of columns to keep before the carets if the beginning of the line is truncated. */
const LEFT_CONTEXT = 30
/**
 * Maximum number of UTF-16 code units to read on either side of the span's start, because a line may be megabytes long.
 */
const REACH = 600
const CUT = '…'
const MASK = '***'

/**
 * Returns the excerpt of a span. Truncates lines that are wider than `width` columns (default 100) on either side, so
 * that the start of the span stays visible. Shows `***` in place of each part in `hidden`, whatever its length.
 */
export function excerpt(span: Span, width = WIDTH, hidden: readonly Span[] = []): Excerpt {
  const { line } = span.file.position(span.start)
  const text = span.file.line(line)
  // A span may start at the line end, for example for a missing value. Its carets are then placed after the last
  // character.
  const lineStart = span.start === 0 ? 0 : span.file.text.lastIndexOf('\n', span.start - 1) + 1
  const start = Math.min(span.start - lineStart, text.length)
  const end = Math.max(start, Math.min(span.end - lineStart, text.length))

  const from = Math.max(0, start - REACH)
  const stretches = hidden
    .filter(one => one.file === span.file && one.start < lineStart + text.length && one.end > lineStart)
    .map(one => ({ start: one.start - lineStart - from, end: one.end - lineStart - from }))
  const cells = withoutHidden(toCells(text.slice(from, start + REACH)), stretches)
  const isInside = stretches.some(one => one.start < start - from && start - from < one.end)
  // The carets of a hidden part start where its `***` starts.
  const first = (isInside && cells.findLast(({ at }) => at <= start - from)?.at) || start - from
  const shown = cutToWidth(
    cells,
    width,
    { start: first, end: end - from },
    { isLeft: from > 0, isRight: start + REACH < text.length },
  )
  return { line, text: shown.text.trimEnd(), marks: shown.marks }
}

/**
 * Replaces each hidden part with one `***`. Keeps leading blanks, because a hidden value may span several lines, each
 * of which starts with its indentation.
 */
function withoutHidden(cells: readonly Cell[], hidden: readonly { start: number; end: number }[]): readonly Cell[] {
  if (hidden.length === 0) return cells
  const kept: Cell[] = []
  let inside = false
  for (const cell of cells) {
    const isHidden = hidden.some(({ start, end }) => start <= cell.at && cell.at < end)
    if (!isHidden) kept.push(cell)
    else if (!inside && cell.text.trim() === '') {
      kept.push(cell)
      continue
    } else if (!inside) kept.push({ ...cell, text: MASK, width: MASK.length })
    inside = isHidden
  }
  return kept
}

/**
 * Truncates a line, given as cells, to a width of `room` columns around the marked range. `cut` says on which sides the
 * line continues beyond the cells.
 */
function cutToWidth(
  cells: readonly Cell[],
  room: number,
  { start, end }: { readonly start: number; readonly end: number },
  cut: { readonly isLeft: boolean; readonly isRight: boolean },
) {
  const columnOf = (offset: number) => cells.reduce((sum, cell) => (cell.at < offset ? sum + cell.width : sum), 0)
  const total = columnOf(Number.POSITIVE_INFINITY)
  const fits = !cut.isLeft && !cut.isRight && total <= room
  const firstColumn =
    fits || (!cut.isLeft && columnOf(end) < room)
      ? 0
      : Math.max(0, columnOf(start) - Math.min(LEFT_CONTEXT, Math.floor(room / 3)))

  let column = 0
  let text = ''
  let marks = ''
  let width = 0
  let cutRight = cut.isRight
  for (const cell of cells) {
    const at = column
    column += cell.width
    if (at < firstColumn) continue
    if (width + cell.width > room) {
      cutRight = true
      break
    }
    text += cell.text
    width += cell.width
    if (cell.at < start) marks += ' '.repeat(cell.width)
    else if (cell.at < end) marks += '^'.repeat(cell.width)
  }
  if (!marks.includes('^')) marks += '^'
  const cutLeft = firstColumn > 0 || cut.isLeft
  return { text: (cutLeft ? CUT : '') + text + (cutRight ? CUT : ''), marks: (cutLeft ? ' ' : '') + marks }
}
