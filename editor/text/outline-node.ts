/** A key or a list item of a YAML text, with the position of its parts as offsets. */
export interface OutlineNode {
  /** The key, or the index of a list item. */
  readonly step: string
  readonly kind: 'key' | 'item'
  /** Position of the key without quotes, or of the dash. */
  readonly start: number
  readonly end: number
  /** Column of the key or the dash, from 0; undefined for nodes inside braces or brackets. */
  readonly column: number | undefined
  readonly parent: OutlineNode | undefined
  readonly children: OutlineNode[]
  /** Offset after the colon or the dash; undefined for a word that has no colon yet. */
  valueFrom: number | undefined
  /** The scalar as it is written, without quotes and comments; undefined for a block scalar. */
  scalar: ScalarText | undefined
  /** Name of the anchor of the value; undefined if the value has none. */
  anchor: string | undefined
  /** Set if the value is a mapping in braces or a list in brackets; `end` is after the closing bracket. */
  flow: { readonly start: number; end: number; isClosed: boolean } | undefined
  /** Offset at which the last part of the value ends. */
  last: number
}

/** A scalar as it is written. */
export interface ScalarText {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** The keys and items of a YAML text. */
export interface Outline {
  readonly text: string
  /** Top-level nodes of all documents. */
  readonly top: readonly OutlineNode[]
  /** All nodes, in the order of their positions. */
  readonly all: readonly OutlineNode[]
}

/** Returns the path of a node: the keys and indices of its ancestors and of the node itself. */
export function pathOf(node: OutlineNode | undefined): readonly string[] {
  const path: string[] = []
  for (let at = node; at !== undefined; at = at.parent) path.push(at.step)
  return path.reverse()
}

/** Returns the node at a path of keys and indices; undefined if there is none. */
export function nodeAt(outline: Outline, path: readonly string[]): OutlineNode | undefined {
  let found: OutlineNode | undefined
  let nodes: readonly OutlineNode[] = outline.top
  for (const step of path) {
    found = nodes.find(node => node.step === step)
    if (!found) return undefined
    nodes = found.children
  }
  return found
}

/** Returns a node without a value. */
export function newNode(
  { step, kind, start, end, column }: Pick<OutlineNode, 'step' | 'kind' | 'start' | 'end' | 'column'>,
  parent: OutlineNode | undefined,
  valueFrom: number | undefined,
): OutlineNode {
  return {
    step,
    kind,
    start,
    end,
    column,
    parent,
    children: [],
    valueFrom,
    scalar: undefined,
    anchor: undefined,
    flow: undefined,
    last: end,
  }
}
