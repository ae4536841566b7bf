import type { Span } from './source.ts'

/**
 * The content of a YAML document, with the position of every part. Immutable: stages create new nodes and share the
 * rest.
 */
export type Tree = MapTree | SeqTree | ScalarTree

interface Node {
  readonly span: Span
  /** Places whose value this one replaced in a merge, the newest first. */
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

/** The types that the reference loader gives to plain scalars; `date` keeps its text. */
export type ScalarType = 'string' | 'int' | 'float' | 'bool' | 'null' | 'date'

export interface ScalarTree extends Node {
  readonly kind: 'scalar'
  readonly type: ScalarType
  /**
   * string and date: string; int: number, or bigint outside the safe range; float: number; bool:
   * boolean; null: null.
   */
  readonly value: string | number | bigint | boolean | null
  /** Style in the source; absent on values that a stage created. */
  readonly style?: 'plain' | 'single' | 'double' | 'literal' | 'folded'
  /** The text before interpolation, where a variable took part in the value. */
  readonly template?: string
  /** The variables that took part in the value, with the position of each `$` expression. */
  readonly variables?: readonly UsedVariable[]
  /**
   * Maps stretches of the value to stretches of the source, where they differ (escapes, folding,
   * variables).
   */
  readonly pieces?: readonly Piece[]
  /**
   * The required variables that nothing sets, where it is not known yet whether the value is needed
   * (compose/load/values-from-secrets.ts).
   */
  readonly missing?: readonly MissingVariable[]
}

export interface MissingVariable {
  readonly name: string
  /** The user's own words; may be empty. */
  readonly message: string
  readonly span: Span
}

export interface UsedVariable {
  readonly name: string
  /** Origin of its value, in words: `the shell`, `.env:3`, `its default`, `nowhere`. */
  readonly origin: string
  readonly span: Span
  /** The value is secret because of where it comes from. */
  readonly isSecret?: true
}

/**
 * `value.slice(at, at + length)` was written at `span`; `verbatim` when the texts are equal,
 * character for character.
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

/** The value under a path of keys, or undefined where something is missing or not a mapping. */
export function get(tree: Tree | undefined, ...path: readonly string[]): Tree | undefined {
  let at = tree
  for (const key of path) at = at?.kind === 'map' ? at.entries.get(key)?.value : undefined
  return at
}

/** The entry under a key of a mapping. */
export function entry(tree: Tree | undefined, key: string): Entry | undefined {
  return tree?.kind === 'map' ? tree.entries.get(key) : undefined
}

export function mapTree(span: Span, entries: Iterable<readonly [string, Entry]>): MapTree {
  return { kind: 'map', span, entries: new Map(entries) }
}

/** Returns a scalar that a stage creates; its span is the position that it stands for. */
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

/** The mapping with an entry put in place of, or after, what it has. */
export function withEntry(map: MapTree, key: string, value: Tree, keySpan?: Span): MapTree {
  const entries = new Map(map.entries)
  entries.set(key, { key: keySpan ?? map.entries.get(key)?.key ?? value.span, value })
  return { ...map, entries }
}

/** The mapping without some keys; itself when it has none of them. */
export function withoutKeys(map: MapTree, ...keys: readonly string[]): MapTree {
  if (!keys.some(key => map.entries.has(key))) return map
  const entries = new Map(map.entries)
  for (const key of keys) entries.delete(key)
  return { ...map, entries }
}
