import { EVENT_ID, type Event } from 'js-yaml'
import { closingEnd } from './yaml-events.ts'
import { misplacedTabAt, type YamlMistake } from './yaml-mistakes.ts'

/**
 * Returns the first tab in a position where only spaces are allowed: at the start of a line, even of an otherwise empty
 * line, or after the dash of a list item. js-yaml accepts some of these tabs, but the reference loader refuses them,
 * and their width in an editor is misleading.
 */
export function misplacedTab(text: string, events: readonly Event[]): YamlMistake | undefined {
  if (!CANDIDATE.test(text)) return undefined
  const regions = regionsOf(text, events)
  let next = 0
  for (const { 0: line, index } of text.matchAll(CANDIDATES)) {
    const at = index + line.length - 1
    while (next + 1 < regions.length && regions[next + 1]!.start <= at) next++
    const region = regions[next]
    if (!region || region.start > at) return misplacedTabAt(at)
    const column = line.length - 1
    switch (region.kind) {
      case 'free':
        if (at < region.end) continue
        break
      case 'block':
        if (at < region.end && column >= region.indent) continue
        break
      case 'plain':
        // Blank lines after a plain value belong to the value.
        if (text.slice(region.end, at).trim() === '' && column > region.indent && !line.includes('-')) continue
        break
    }
    return misplacedTabAt(at)
  }
  return undefined
}

const CANDIDATE = /^ *(?:[-?] *)*\t/m
const CANDIDATES = new RegExp(CANDIDATE, 'gm')

/**
 * A part of the text with a rule about tabs. `free`: tabs are allowed everywhere in the part. `block`: they are allowed
 * from the column `indent` on. `plain`: they are allowed in the blank lines that follow the part.
 */
interface Region {
  readonly kind: 'free' | 'block' | 'plain'
  readonly start: number
  end: number
  /** Column of the content of a block scalar, or of the collection that contains a plain value. */
  readonly indent: number
}

/** Returns the regions in the order of the text. Regions are not nested. */
function regionsOf(text: string, events: readonly Event[]): readonly Region[] {
  const regions: Region[] = []
  const columnOf = (offset: number) => offset - (text.lastIndexOf('\n', offset - 1) + 1)
  /**
   * The enclosing collections, outermost first: the column of a block collection, or the region of a flow collection.
   */
  const around: (number | Region)[] = []
  let lastEnd = 0
  const add = (kind: Region['kind'], start: number, end: number, indent: number) => {
    const region: Region = { kind, start, end, indent }
    if (typeof around.at(-1) !== 'object') regions.push(region)
    lastEnd = end
    return region
  }
  for (const event of events) {
    const outer = around.at(-1) ?? -1
    const indent = typeof outer === 'number' ? outer : -1
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        around.push(-1)
        break
      case EVENT_ID.POP: {
        const closed = around.pop()
        if (typeof closed === 'object') closed.end = lastEnd = closingEnd(text, lastEnd)
        break
      }
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING:
        around.push(
          event.style === 2 || typeof outer === 'object'
            ? add('free', event.start, event.start + 1, indent)
            : columnOf(event.start),
        )
        break
      case EVENT_ID.ALIAS:
        add('plain', event.anchorStart, event.anchorEnd, indent)
        break
      case EVENT_ID.SCALAR: {
        const { style, valueStart, valueEnd } = event
        if (valueStart < 0) break
        if (style === 1) add('plain', valueStart, valueEnd, indent)
        else if (style === 2 || style === 3) add('free', valueStart, valueEnd + 1, indent)
        else add('block', valueStart, valueEnd, event.indent)
      }
    }
  }
  return regions
}
