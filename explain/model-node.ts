import type { ModelPath } from '../compiler/schema/model-path.ts'
import type { Span } from '../compiler/text/source.ts'
import type { MapTree, SeqTree, Tree } from '../compiler/text/tree.ts'

/** Value in the loaded model. */
export interface ModelNode {
  readonly path: ModelPath
  readonly tree: Tree
  /** Position of the value's key; absent for list items and for the root. */
  readonly key?: Span
  /**
   * True if no line contains the value, because it is a default of Compose. The position of the value is then the
   * position of the mapping or list that contains it.
   */
  readonly isImplied?: true
}

/** Returns true for the path of a service or a job, and for a path in one. */
export const isWorkload = ([section]: ModelPath): boolean => section === 'services' || section === 'jobs'

/** Yields a node and all nodes below it, each parent before its members. */
export function* nodesBelow(node: ModelNode): Generator<ModelNode> {
  yield node
  for (const child of childrenOf(node)) yield* nodesBelow(child)
}

/** Returns the members of a mapping or the items of a list. */
export function childrenOf({ path, tree, isImplied }: ModelNode): readonly ModelNode[] {
  const child = (step: string | number, value: Tree, key?: Span): ModelNode => ({
    path: [...path, step],
    tree: value,
    ...(key && { key }),
    ...((isImplied || (isAround(value.span, tree.span) && !isWritten(step, key))) && { isImplied: true }),
  })
  if (tree.kind === 'map') return [...tree.entries].map(([name, { key, value }]) => child(name, value, key))
  if (tree.kind === 'seq') return tree.items.map((item, index) => child(index, item))
  return []
}

/**
 * True if the text at the position of a key is the key itself, so that the file contains the key. A key without a
 * value, such as `NAME`, has a value with the position of the key.
 */
const isWritten = (step: string | number, key: Span | undefined): boolean =>
  key !== undefined && key.file.text.slice(key.start, key.end).replace(/^(["'])(.*)\1$/, '$2') === step

const isAround = (one: Span, other: Span): boolean =>
  one.file === other.file && one.start <= other.start && one.end >= other.end

/** Returns the node at a path; undefined if there is none. */
export function nodeAt(tree: MapTree, path: ModelPath): ModelNode | undefined {
  let node: ModelNode | undefined = { path: [], tree }
  for (const step of path) node = node && childrenOf(node).find(child => child.path.at(-1) === step)
  return node
}

/** Returns the model with another value at a path, or without the key or item if the value is undefined. */
export function withChange(tree: MapTree, path: ModelPath, value: Tree | undefined): MapTree {
  return changed(tree, path, value) as MapTree // a mapping remains a mapping
}

function changed(tree: Tree, [step, ...rest]: ModelPath, value: Tree | undefined): Tree | undefined {
  if (step === undefined) return value
  if (tree.kind === 'map' && typeof step === 'string') return changedMap(tree, step, rest, value)
  if (tree.kind === 'seq' && typeof step === 'number') return changedList(tree, step, rest, value)
  return tree
}

function changedMap(tree: MapTree, step: string, rest: ModelPath, value: Tree | undefined): MapTree {
  const entry = tree.entries.get(step)
  if (!entry) return tree
  const inner = changed(entry.value, rest, value)
  const entries = new Map(tree.entries)
  if (inner) entries.set(step, { ...entry, value: inner })
  else entries.delete(step)
  return { ...tree, entries }
}

function changedList(tree: SeqTree, step: number, rest: ModelPath, value: Tree | undefined): SeqTree {
  const items = tree.items.flatMap((item, index) => (index === step ? (changed(item, rest, value) ?? []) : item))
  return { ...tree, items }
}
