import { type Event, getScalarValue, parseEvents, type ScalarEvent, YAMLException } from 'js-yaml'
import { mistakeOf, type YamlMistake } from './yaml-mistakes.ts'

/** Levels of nesting that a document may have. */
export const MAX_DEPTH = 500

/** Characters that may be read again to make room for lines that are indented too little. */
const MAX_REREAD = 20_000_000

/**
 * The events of a YAML text, as js-yaml reads them, with offsets into the text; or the first
 * mistake. Lines of a quoted text or of a `[…]` or `{…}` may be indented less than YAML wants, and
 * a comment may follow a quote or a bracket at once: the reference loader takes both, and files
 * have them.
 */
export function readEvents(text: string): readonly Event[] | YamlMistake {
  const blanks = new Blanks(text)
  for (let reread = 0; ; reread += text.length) {
    try {
      const events = parseEvents(blanks.apply(), { maxDepth: MAX_DEPTH })
      if (!blanks.isEmpty) for (const event of events) blanks.restore(event)
      return events
    } catch (thrown) {
      if (!(thrown instanceof YAMLException)) throw thrown
      const at = Math.min(blanks.original(thrown.mark?.position ?? 0), text.length)
      const place = reread < MAX_REREAD ? whereBlanksHelp(text, thrown.reason, at) : undefined
      if (place === undefined || !blanks.insert(place)) return mistakeOf(thrown.reason, text, at)
    }
  }
}

/** The text of a scalar of `readEvents`. */
export function textOf(text: string, scalar: ScalarEvent): string {
  if (scalar.valueStart < 0) return ''
  const value = getScalarValue(text, scalar)
  const isBlock = scalar.style === 4 || scalar.style === 5
  // A block at the end of a file that has no last line end does not get one, as in the reference
  // loader.
  const endsOpen = isBlock && scalar.valueEnd >= text.length && !text.endsWith('\n')
  return endsOpen && value.endsWith('\n') ? value.slice(0, -1) : value
}

function whereBlanksHelp(text: string, reason: string, at: number): number | undefined {
  if (reason === 'deficient indentation') return text.lastIndexOf('\n', at - 1) + 1
  if (text[at] === '#' && /["'\]}]/.test(text[at - 1] ?? '')) return at
  return undefined
}

/** Blanks that are read as if they stood in a text. */
class Blanks {
  readonly #text: string
  /** Longer than the indentation of any line; empty as long as there are no places. */
  #blanks = ''
  /** Offsets into the text, sorted. */
  readonly #places: number[] = []

  constructor(text: string) {
    this.#text = text
  }

  get isEmpty(): boolean {
    return this.#places.length === 0
  }

  /** Puts blanks before the character at the offset; false when there are some. */
  insert(place: number): boolean {
    if (this.#places.includes(place)) return false
    if (this.isEmpty) this.#blanks = ' '.repeat(Math.min(2 * MAX_DEPTH, 1 + longestIndent(this.#text)))
    this.#places.push(place)
    this.#places.sort((a, b) => a - b)
    return true
  }

  /** The text with the blanks. */
  apply(): string {
    if (this.isEmpty) return this.#text
    let result = ''
    let from = 0
    for (const place of this.#places) {
      result += this.#text.slice(from, place) + this.#blanks
      from = place
    }
    return result + this.#text.slice(from)
  }

  /** The offset into the text for one into the text with the blanks. */
  original(offset: number): number {
    const width = this.#blanks.length
    let low = 0
    let high = this.#places.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#places[middle]! + middle * width < offset) low = middle + 1
      else high = middle
    }
    const place = this.#places[low - 1]
    return place === undefined ? offset : Math.max(place, offset - low * width)
  }

  /** Gives the event the offsets of the text without the blanks. */
  restore(event: Event): void {
    const offsets = event as unknown as Record<string, number> // every field whose name ends so is an offset, or -1
    for (const name of OFFSETS) {
      const offset = offsets[name]
      if (offset !== undefined && offset >= 0) offsets[name] = this.original(offset)
    }
  }
}

const OFFSETS = ['start', 'valueStart', 'valueEnd', 'anchorStart', 'anchorEnd', 'tagStart', 'tagEnd']

function longestIndent(text: string): number {
  let longest = 0
  for (const [indent] of text.matchAll(/^ +/gm)) longest = Math.max(longest, indent.length)
  return longest
}

/**
 * The offset of the first character at or after `from` that is not a blank, no line end, no comment
 * and none of `also`.
 */
export function skipBlanks(text: string, from: number, also = ''): number {
  let at = from
  for (; at < text.length; at++) {
    const character = text[at]!
    if (character === '#' && (at === 0 || /[\s,:[\]{}"']/.test(text[at - 1]!))) {
      const end = text.indexOf('\n', at)
      if (end < 0) return text.length
      at = end
    } else if (!/\s/.test(character) && !also.includes(character)) break
  }
  return at
}

/** Returns the offset after the closing bracket of a `[…]` or `{…}` whose last part ends at `from`. */
export function closingEnd(text: string, from: number): number {
  const at = skipBlanks(text, from, ',:?')
  return text[at] === ']' || text[at] === '}' ? at + 1 : from
}
