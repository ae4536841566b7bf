import { type Outline, type OutlineNode, pathOf } from './outline-node.ts'
import { commentIn } from './scan.ts'

/** Key or value at a position in a file, such as the position of the cursor. */
export interface Place {
  /** `key`: the name of a key, in the mapping at `path`. `value`: the value at `path`. */
  readonly kind: 'key' | 'value'
  readonly path: readonly string[]
  /** Key or item at the position, or the key or item whose value is at the position. */
  readonly node?: OutlineNode
  /** The text at the position, which a completion replaces. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/**
 * Returns the key or value at an offset. On a line with keys or items, these decide; on an empty line, the column of
 * the offset decides. Undefined if there is no key or value, for example in a comment.
 */
export function placeAt(outline: Outline, offset: number): Place | undefined {
  const { text } = outline
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  if (commentIn(text.slice(lineStart, offset)) !== undefined) return undefined
  const node = lastBefore(outline, offset)
  const isInFlow = node?.flow && offset > node.flow.start
  if (node && node.column !== undefined && !isInFlow && (offset <= node.end || isOn(text, node.end, offset)))
    return ofNode(node, offset)
  const flow = flowAround(node, offset)
  if (flow) return ofFlow(flow, text, offset)
  if (node?.scalar && offset <= node.scalar.end) return placeOfValue(node, offset)
  if (node && node.kind === 'key' && isInText(node, lineStart, offset)) return undefined
  return text.slice(lineStart, offset).trim() === '' ? ofEmptyLine(node, text, offset) : undefined
}

function ofNode(node: OutlineNode, offset: number): Place {
  if (node.kind === 'key' && (offset <= node.end || node.valueFrom === undefined)) return placeOfKey(node)
  return placeOfValue(node, offset)
}

const placeOfKey = (node: OutlineNode): Place => ({
  kind: 'key',
  path: pathOf(node.parent),
  node,
  text: node.step,
  start: node.start,
  end: node.end,
})

function placeOfValue(node: OutlineNode, offset: number): Place {
  const { scalar = { text: '', start: offset, end: offset } } = node
  const isBeside = offset < scalar.start || offset > scalar.end
  const { text, start, end } = isBeside ? { text: '', start: offset, end: offset } : scalar
  return { kind: 'value', path: pathOf(node), node, text, start, end }
}

/**
 * Returns the innermost of a node and its ancestors whose value is in brackets or braces around an offset; undefined if
 * there is none.
 */
function flowAround(node: OutlineNode | undefined, offset: number): OutlineNode | undefined {
  for (let at = node; at !== undefined; at = at.parent) {
    const { flow } = at
    if (flow && flow.start < offset && (flow.isClosed ? offset < flow.end : offset <= flow.end)) return at
  }
  return undefined
}

function ofFlow(around: OutlineNode, text: string, offset: number): Place {
  const child = around.children.findLast(({ start }) => start <= offset)
  const isMap = text[around.flow!.start] === '{'
  const end = child && Math.max(child.last, child.flow?.end ?? 0)
  if (child && (offset <= end! || !text.slice(end, offset).includes(','))) return ofNode(child, offset)
  const here = { text: '', start: offset, end: offset }
  if (isMap) return { kind: 'key', path: pathOf(around), ...here }
  return { kind: 'value', path: [...pathOf(around), String(around.children.length)], ...here }
}

/**
 * Returns the place of a new key on an empty line. The column of the position determines the mapping that contains the
 * key.
 */
function ofEmptyLine(before: OutlineNode | undefined, text: string, offset: number): Place {
  const column = offset - (text.lastIndexOf('\n', offset - 1) + 1)
  let node = before
  while (node && ((node.column ?? Number.POSITIVE_INFINITY) >= column || node.scalar)) node = node.parent
  return { kind: 'key', path: pathOf(node), ...(node && { node }), text: '', start: offset, end: offset }
}

/** True if the line that starts at `lineStart` continues the text of `node` from an earlier line. */
function isInText(node: OutlineNode, lineStart: number, offset: number): boolean {
  return node.last >= offset && lineStart > node.end && node.children.length === 0
}

const isOn = (text: string, from: number, offset: number): boolean => !text.slice(from, offset).includes('\n')

/** Returns the last node that starts at or before an offset; undefined if there is none. */
function lastBefore({ all }: Outline, offset: number): OutlineNode | undefined {
  let low = 0
  let high = all.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (all[middle]!.start <= offset) low = middle + 1
    else high = middle
  }
  return all[low - 1]
}
