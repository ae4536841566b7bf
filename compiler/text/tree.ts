import type { Span } from './source.ts'

/**
 * The content of a YAML document, with the position of every part. Trees are immutable: stages create new nodes and
 * share unchanged ones.
 */
export type Tree = MapTree | SeqTree | ScalarTree

interface Node {
  readonly span: Span
  /** Positions of the values that this value replaced in merges, newest first. */
  readonly replaced?: readonly Span[]
}

export interface MapTree extends Node {
  readonly kind: 'map'
  readonly entries: ReadonlyMap<string, Entry>
}

export interface Entry {
  /** Position of the key. */
  readonly key: Span
  readonly value: Tree
}

export interface SeqTree extends Node {
  readonly kind: 'seq'
  readonly items: readonly Tree[]
}

/** The types that the reference loader assigns to plain scalars. A `date` keeps its text. */
export type ScalarType = 'string' | 'int' | 'float' | 'bool' | 'null' | 'date'

export interface ScalarTree extends Node {
  readonly kind: 'scalar'
  readonly type: ScalarType
  /**
   * The value: a string for `string` and `date`, a number for `int` (bigint outside the safe range) and `float`, a
   * boolean for `bool`, null for `null`.
   */
  readonly value: string | number | bigint | boolean | null
  /** Style in the source. Absent for values that a stage created. */
  readonly style?: 'plain' | 'single' | 'double' | 'literal' | 'folded'
  /** The text before interpolation. Set if the value uses variables. */
  readonly template?: string
  /** The variables that the value uses, with the position of each `$` expression. */
  readonly variables?: readonly UsedVariable[]
  /** Maps parts of the value to parts of the source. Set if they differ because of escapes, folding or variables. */
  readonly pieces?: readonly Piece[]
  /**
   * The required variables that are not set. Used while it is unknown if the value is needed
   * (compose/load/checks/values-from-secrets.ts).
   */
  readonly missing?: readonly MissingVariable[]
}

export interface MissingVariable {
  readonly name: string
  /** The user's own message, which may be empty. */
  readonly message: string
  readonly span: Span
}

export interface UsedVariable {
  readonly name: string
  /** Origin of the value for messages: `the shell`, `.env:3`, `its default`, `nowhere`. */
  readonly origin: string
  readonly span: Span
  /** Set if the value is secret because of its origin. */
  readonly isSecret?: true
}

/**
 * The source position of a part of a value: `value.slice(at, at + length)` was written at `span`. `verbatim` is true if
 * the texts are equal, character by character.
 */
export interface Piece {
  readonly at: number
  readonly length: number
  readonly span: Span
  readonly verbatim: boolean
}

export const isMap = (tree: Tree | undefined): tree is MapTree => tree?.kind === 'map'
export const isSeq = (tree: Tree | undefined): tree is SeqTree => tree?.kind === 'seq'
export const isScalar = (tree: Tree | undefined): tree is ScalarTree => tree?.kind === 'scalar'
export const isNull = (tree: Tree | undefined): boolean => tree?.kind === 'scalar' && tree.type === 'null'

/** Returns the value at a path of keys; undefined if a key is missing or a value on the path is not a mapping. */
export function get(tree: Tree | undefined, ...path: readonly string[]): Tree | undefined {
  let at = tree
  for (const key of path) at = at?.kind === 'map' ? at.entries.get(key)?.value : undefined
  return at
}

/** Returns the entry of a key in a mapping. */
export function entry(tree: Tree | undefined, key: string): Entry | undefined {
  return tree?.kind === 'map' ? tree.entries.get(key) : undefined
}

export function mapTree(span: Span, entries: Iterable<readonly [string, Entry]>): MapTree {
  return { kind: 'map', span, entries: new Map(entries) }
}

/** Returns a scalar that a stage creates. `span` is the source position that the scalar represents. */
export function scalarTree(span: Span, value: string | number | boolean | null): ScalarTree {
  const type =
    value === null
      ? 'null'
      : typeof value === 'string'
        ? 'string'
        : typeof value === 'boolean'
          ? 'bool'
          : Number.isInteger(value)
            ? 'int'
            : 'float'
  return { kind: 'scalar', span, type, value }
}

/** Returns the mapping with an entry replaced, or appended if the key is new. */
export function withEntry(map: MapTree, key: string, value: Tree, keySpan?: Span): MapTree {
  const entries = new Map(map.entries)
  entries.set(key, { key: keySpan ?? map.entries.get(key)?.key ?? value.span, value })
  return { ...map, entries }
}

/** Returns the mapping without the given keys, or the same mapping if it has none of them. */
export function withoutKeys(map: MapTree, ...keys: readonly string[]): MapTree {
  if (!keys.some(key => map.entries.has(key))) return map
  const entries = new Map(map.entries)
  for (const key of keys) entries.delete(key)
  return { ...map, entries }
}
