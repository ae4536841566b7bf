import { printable } from '../../../compiler/values/printable.ts'

/** Part of a line that has one style. `look` is a list of CSS classes; it is empty for plain text. */
export interface AnsiSpan {
  readonly text: string
  readonly look: string
}

/**
 * Pattern of escape sequences. The first group contains the numbers of colors and font weights. All other sequences
 * have no group, and are dropped.
 */
const ESCAPES =
  /\u001b\[([\d;:]*)m|\u001b\[[\u0020-\u003f]*[\u0040-\u007e]?|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[\u0020-\u002f]*[\u0030-\u007e]?/g

interface Style {
  readonly weights: ReadonlySet<string>
  readonly colour: string
  readonly ground: string
}
const PLAIN: Style = { weights: new Set(), colour: '', ground: '' }
const WEIGHTS: Readonly<Record<number, string>> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 9: 'strike' }
/** Escape codes that end font weights. The values are the weights that a code ends. */
const ENDS: Readonly<Record<number, readonly string[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  29: ['strike'],
}

/**
 * Converts a line of a log to texts with CSS classes for the eight colors, their bright variants, and font weights. All
 * other escape sequences are dropped. Characters that a terminal would interpret, or that change the order of letters,
 * are escaped.
 */
export function readAnsi(line: string): readonly AnsiSpan[] {
  const spans: AnsiSpan[] = []
  const text = lastWritten(line)
  let style = PLAIN
  let from = 0
  const put = (raw: string) => {
    if (raw !== '') spans.push({ text: raw.split('\t').map(printable).join('\t'), look: lookOf(style) })
  }
  for (const found of text.matchAll(ESCAPES)) {
    put(text.slice(from, found.index))
    from = found.index + found[0].length
    if (found[1] !== undefined) style = styleAfter(style, found[1])
  }
  put(text.slice(from))
  return spans
}

/** Returns the text after the last carriage return, because progress output overwrites a line from its beginning. */
function lastWritten(line: string): string {
  let end = line.length
  while (line[end - 1] === '\r') end--
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end)
}

/** Returns a line without its escape sequences. */
export const plainText = (line: string): string =>
  readAnsi(line)
    .map(({ text }) => text)
    .join('')

const lookOf = ({ weights, colour, ground }: Style): string =>
  [...weights, colour, ground]
    .filter(one => one !== '')
    .map(one => `ansi-${one}`)
    .join(' ')

function styleAfter(before: Style, numbers: string): Style {
  let style = before
  const codes = numbers.split(/[;:]/).map(Number)
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    const weight = WEIGHTS[code]
    if (code === 0) style = PLAIN
    else if (weight !== undefined) style = { ...style, weights: new Set([...style.weights, weight]) }
    else if (ENDS[code]) {
      const ended = ENDS[code]
      style = { ...style, weights: new Set([...style.weights].filter(one => !ended.includes(one))) }
    } else if (code === 38 || code === 48) {
      // A color given by index has one more number, a color given by components has three. Only the first sixteen
      // indexed colors have a class.
      const index = codes[at + 1] === 5 ? codes[at + 2] : undefined
      at += codes[at + 1] === 5 ? 2 : codes[at + 1] === 2 ? 4 : 0
      const name = index !== undefined && index < 16 ? String(index) : ''
      style = code === 38 ? { ...style, colour: name } : { ...style, ground: name && `on-${name}` }
    } else if (code === 39) style = { ...style, colour: '' }
    else if (code === 49) style = { ...style, ground: '' }
    else if (code >= 30 && code <= 37) style = { ...style, colour: String(code - 30) }
    else if (code >= 90 && code <= 97) style = { ...style, colour: String(code - 82) }
    else if (code >= 40 && code <= 47) style = { ...style, ground: `on-${code - 40}` }
    else if (code >= 100 && code <= 107) style = { ...style, ground: `on-${code - 92}` }
  }
  return style
}
