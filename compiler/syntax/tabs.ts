import { type Document, isMap, isPair, isScalar, isSeq, type Node } from 'yaml'

/**
 * The offset of a tab that stands where only spaces may: at the start of a line, also of one that is empty but for it, or after the dash of a list. The yaml
 * package reads over some of these; the reference loader refuses them, and an editor that shows tabs wide misleads. Undefined when there is none.
 */
export function misplacedTab(text: string, documents: readonly Document[]): number | undefined {
  if (!CANDIDATE.test(text)) return undefined
  const regions = regionsOf(text, documents)
  let next = 0
  for (const { 0: line, index } of text.matchAll(CANDIDATES)) {
    const at = index + line.length - 1
    while (next + 1 < regions.length && regions[next + 1]!.start <= at) next++
    const region = regions[next]
    if (!region || region.start > at) return at
    const column = line.length - 1
    switch (region.kind) {
      case 'free':
        if (at < region.end) continue
        break
      case 'block':
        if (at < region.end && column >= region.indent) continue
        break
      case 'plain':
        // The blank lines after a plain value belong to it.
        if (text.slice(region.end, at).trim() === '' && column > region.indent && !line.includes('-')) continue
        break
    }
    return at
  }
  return undefined
}

const CANDIDATE = /^ *(?:[-?] *)*\t/m
const CANDIDATES = new RegExp(CANDIDATE, 'gm')

/** A stretch of text where tabs may stand: anywhere, from a column on, or in the blank lines that follow it. */
interface Region {
  readonly kind: 'free' | 'block' | 'plain'
  readonly start: number
  readonly end: number
  /** Columns: of the content of a block scalar, or of the collection that a plain value is in. */
  readonly indent: number
}

/** In the order of the text, none inside another. */
function regionsOf(text: string, documents: readonly Document[]): readonly Region[] {
  const regions: Region[] = []
  const columnOf = (offset: number) => offset - (text.lastIndexOf('\n', offset - 1) + 1)
  const walk = (node: unknown, indent: number): void => {
    if (isPair(node)) {
      walk(node.key, indent)
      walk(node.value, indent)
      return
    }
    const range = (node as Node | null)?.range // the walk meets nodes, pairs and null only
    if (!range) return
    const [start, end] = range
    if (isMap(node) || isSeq(node)) {
      if (node.flow) regions.push({ kind: 'free', start, end, indent })
      else for (const item of node.items) walk(item, columnOf(start))
    } else if (!isScalar(node) || node.type === 'PLAIN') regions.push({ kind: 'plain', start, end, indent })
    else if (node.type === 'QUOTE_SINGLE' || node.type === 'QUOTE_DOUBLE')
      regions.push({ kind: 'free', start, end, indent })
    else regions.push({ kind: 'block', start, end, indent: blockIndent(text.slice(start, end)) })
  }
  for (const { contents } of documents) walk(contents, -1)
  return regions
}

/** The column of a block scalar's content: that of its first line that is not blank. */
function blockIndent(block: string): number {
  const first = /\n( *)[^ \r\n]/.exec(block)
  return first ? first[1]!.length : 0
}
