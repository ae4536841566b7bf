import { scalarPlaces } from './scalar-places.ts'
import type { Span } from './source.ts'
import type { ScalarTree } from './tree.ts'

/**
 * Returns the position of `value.slice(start, end)` of a scalar. The position is exact if the text is written verbatim.
 * A part that comes from an escape or a `${…}` has the position of the escape or expression. If nothing more exact is
 * known, returns the position of the full scalar.
 */
export function spanInside(scalar: ScalarTree, start: number, end: number): Span {
  const whole = scalar.span
  const text = String(scalar.value)
  if (start >= end || start < 0 || end > text.length) return whole
  if (scalar.pieces) return insidePieces(scalar, start, end) ?? whole
  // Offsets in a value that a stage created are valid only if the text at its span is the value itself.
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
