import { type Event, getScalarValue, parseEvents, type ScalarEvent, YAMLException } from 'js-yaml'
import { mistakeOf, type YamlMistake } from './yaml-mistakes.ts'

/** Maximum nesting depth of a document. */
export const MAX_DEPTH = 500

/** Maximum number of characters that are parsed again after blanks were inserted. */
const MAX_REREAD = 20_000_000

/**
 * Returns the js-yaml events of a YAML text, with offsets into the text. If the text has errors, returns the first one
 * instead. Lines of a quoted text or of a `[…]` or `{…}` may be indented less than YAML requires, and a comment may
 * directly follow a quote or bracket, because the reference loader accepts this and existing files use it.
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

/** Returns the text of a scalar from `readEvents`. */
export function textOf(text: string, scalar: ScalarEvent): string {
  if (scalar.valueStart < 0) return ''
  const value = getScalarValue(text, scalar)
  const isBlock = scalar.style === 4 || scalar.style === 5
  // If the file does not end with a newline, neither does a block scalar at its end, as in the reference loader.
  const endsOpen = isBlock && scalar.valueEnd >= text.length && !text.endsWith('\n')
  return endsOpen && value.endsWith('\n') ? value.slice(0, -1) : value
}

function whereBlanksHelp(text: string, reason: string, at: number): number | undefined {
  if (reason === 'deficient indentation') return text.lastIndexOf('\n', at - 1) + 1
  if (text[at] === '#' && /["'\]}]/.test(text[at - 1] ?? '')) return at
  return undefined
}

/** Blanks to insert into a text before it is parsed. */
class Blanks {
  readonly #text: string
  /**
   * The text that is inserted at each offset: more blanks than the indentation of any line. Empty if there are no
   * offsets.
   */
  #blanks = ''
  /** Offsets into the text at which blanks are inserted, sorted. */
  readonly #places: number[] = []

  constructor(text: string) {
    this.#text = text
  }

  get isEmpty(): boolean {
    return this.#places.length === 0
  }

  /** Inserts blanks before the character at the offset. Returns false if blanks are already inserted there. */
  insert(place: number): boolean {
    if (this.#places.includes(place)) return false
    if (this.isEmpty) this.#blanks = ' '.repeat(Math.min(2 * MAX_DEPTH, 1 + longestIndent(this.#text)))
    this.#places.push(place)
    this.#places.sort((a, b) => a - b)
    return true
  }

  /** Returns the text with the blanks inserted. */
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

  /** Converts an offset into the text with blanks to an offset into the original text. */
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

  /** Converts the offsets of an event to offsets into the original text. */
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
 * Returns the offset of the first character at or after `from` that is not whitespace, not part of a comment, and not
 * in `also`.
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

/**
 * Returns the offset after the closing bracket of a `[…]` or `{…}` whose last part ends at `from`, or `from` if the
 * bracket is missing.
 */
export function closingEnd(text: string, from: number): number {
  const at = skipBlanks(text, from, ',:?')
  return text[at] === ']' || text[at] === '}' ? at + 1 : from
}
