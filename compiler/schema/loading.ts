import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import type { MapTree, Tree } from '../text/tree.ts'

/**
 * What the passes of the loader do with the value of a key. A row or a shape has these rules beside what may be written; a
 * rule that is absent means that the pass has nothing to do there.
 */
export interface LoadRules {
  /** The type that a string is converted to once its variables are substituted. */
  readonly cast?: Cast
  /** How a short form becomes the long one. */
  readonly long?: ToLongForm
  /** How the value of a later file joins that of an earlier one. Absent: mappings key by key, lists appended, scalars replaced. */
  readonly merge?: Merge
  /** What makes an item of the list the same as another: of two, the last counts. */
  readonly identity?: Identity
  /** How relative paths in it become absolute. */
  readonly path?: ResolvePath
  /** What Compose takes where the value does not say. */
  readonly defaults?: Complete
  /** How `docker compose config` prints it. Absent: as its shape says (`printerOf`). */
  readonly print?: Print
  /** Members of the mapping that are printed even when they are absent. */
  readonly always?: Readonly<Record<string, (tree: Tree) => Tree>>
}

export type Cast = 'integer' | 'number' | 'boolean' | 'umask'

/** Gives the long form, or the same tree where it is long already. Undefined where the short form cannot be read, which is reported. */
export type ToLongForm = (tree: Tree, context: LongFormContext) => Tree | undefined

export interface LongFormContext {
  readonly reporter: Reporter
  /** Top-level `volumes`: a source of one letter is a volume only when it is declared. */
  readonly volumes: MapTree | undefined
}

/** Gives the merged value of an earlier and a later definition. */
export type Merge = (base: Tree, override: Tree, merging: Merging) => Tree

/** The merge that goes on, for rules that leave a part of the work to it. */
export interface Merging {
  /** Merges key by key, by the rules of the keys. */
  maps(base: MapTree, override: MapTree): MapTree
  /** Merges as where there is no rule. */
  byKind(base: Tree, override: Tree): Tree
  /** Reports that the two cannot be merged; gives the earlier one. */
  conflict(base: Tree, override: Tree): Tree
}

/** Gives what makes an item of a list unique; undefined when the item has no such thing, which other checks report. */
export type Identity = (item: Tree) => string | undefined

export type ResolvePath = (tree: Tree, base: PathBase) => Tree

/** What relative paths are relative to. */
export interface PathBase {
  /** Absolute. */
  readonly directory: string
  readonly host: CompilerHost
}

export type Complete = (tree: Tree) => Tree

/** Turns a value of the canonical model into the one that `config` prints; undefined leaves it out. Reports what cannot be read, and sets `failed`. */
export type Print = (tree: Tree, context: PrintContext) => Tree | undefined

export interface PrintContext {
  readonly reporter: Reporter
  failed: boolean
}
