import { scalarPlaces } from './scalar-places.ts'
import type { Span } from './source.ts'
import type { ScalarTree } from './tree.ts'

/**
 * Returns the position of `value.slice(start, end)` of a scalar: exact if its text is written verbatim, the position of
 * the escape or the `${…}` if a stretch comes from one, and the whole scalar if nothing better is known.
 */
export function spanInside(scalar: ScalarTree, start: number, end: number): Span {
  const whole = scalar.span
  const text = String(scalar.value)
  if (start >= end || start < 0 || end > text.length) return whole
  if (scalar.pieces) return insidePieces(scalar, start, end) ?? whole
  // A value that a stage made stands for the text of its span only when that text is its own.
  const isWritten = scalar.type === 'string' && scalar.style !== undefined
  if (!isWritten && whole.file.text.slice(whole.start, whole.end) !== text) return whole
  return scalarPlaces(scalar, text)(start, end)
}

function insidePieces(scalar: ScalarTree, start: number, end: number): Span | undefined {
  let from: number | undefined
  let to: number | undefined
  for (const { at, length, span, verbatim } of scalar.pieces ?? []) {
    if (span.file !== scalar.span.file || at >= end || at + length <= start) continue
    const first = verbatim ? span.start + Math.max(0, start - at) : span.start
    const last = verbatim ? span.start + Math.min(length, end - at) : span.end
    if (from === undefined || first < from) from = first
    if (to === undefined || last > to) to = last
  }
  return from === undefined || to === undefined ? undefined : { file: scalar.span.file, start: from, end: to }
}
