import type { Span } from './source.ts'
import type { ScalarTree } from './tree.ts'

/**
 * Returns a function that finds the source span of a part of a scalar's text, through quotes, escapes, folded lines and
 * block indentation. `text` is the scalar's text after YAML parsing and before interpolation. The alignment is computed
 * once per scalar, on the first call.
 */
export function scalarPlaces(scalar: ScalarTree, text: string): (start: number, end: number) => Span {
  const { file, start: from, end: to } = scalar.span
  const raw = file.text.slice(from, to)
  if (raw === text) return (start, end) => ({ file, start: from + start, end: from + end })
  let offsets: Int32Array | undefined
  return (start, end) => {
    offsets ??= align(raw, text, scalar.style)
    return {
      file,
      start: from + offsets[start]!,
      end: from + offsets[Math.max(start, end - 1)]! + (end > start ? 1 : 0),
    }
  }
}

/** Returns the source offset of each character of the text, and of its end. */
function align(raw: string, text: string, style: ScalarTree['style']): Int32Array {
  const offsets = new Int32Array(text.length + 1)
  const isBlock = style === 'literal' || style === 'folded'
  // A block's header line (`|-`) contains no text; a quoted scalar begins after its quote.
  let at = isBlock ? raw.indexOf('\n') + 1 : style === 'single' || style === 'double' ? 1 : 0
  let lineStart = isBlock
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!
    if (lineStart || raw[at] !== character) at = next(raw, at, character, style, lineStart)
    lineStart = false
    offsets[index] = Math.min(at, raw.length)
    if (style === 'double' && raw[at] === '\\') at += escapeLength(raw, at)
    else if (style === 'single' && character === "'" && raw[at + 1] === "'") at += 2
    else if (raw[at] === '\n') {
      at++
      lineStart = true
    } else if (raw[at] === '\r' && raw[at + 1] === '\n') {
      at += 2
      lineStart = true
    } else at++
  }
  offsets[text.length] = Math.min(at, raw.length)
  return offsets
}

/**
 * Returns the offset of `character` in the source, at or after `from`. Skips indentation and folded line ends that YAML
 * drops.
 */
function next(raw: string, from: number, character: string, style: ScalarTree['style'], lineStart: boolean): number {
  let at = from
  if (style === 'double' && raw[at] === '\\') {
    // An escaped line end produces no character.
    while (raw[at] === '\\' && (raw[at + 1] === '\n' || raw[at + 1] === '\r')) {
      at += 2
      while (at < raw.length && /\s/.test(raw[at]!)) at++
    }
    return at
  }
  if (character === '\n' || (character === ' ' && !lineStart)) {
    while (at < raw.length && (raw[at] === ' ' || raw[at] === '\t' || raw[at] === '\r') && raw[at] !== character) at++
    return raw[at] === '\n' || raw[at] === character ? at : from
  }
  while (at < raw.length && raw[at] !== character && /\s/.test(raw[at]!)) at++
  return raw[at] === character || raw[at] === '\\' ? at : from
}

function escapeLength(raw: string, at: number): number {
  switch (raw[at + 1]) {
    case 'x':
      return 4
    case 'u':
      return 6
    case 'U':
      return 10
    default:
      return 2
  }
}
