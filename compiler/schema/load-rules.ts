import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import type { MapTree, Tree } from '../text/tree.ts'

/**
 * The rules of a row or shape for the passes of the loader. A pass skips values without its rule.
 */
export interface LoadRules {
  /** The type that a string is converted to once its variables are substituted. */
  readonly cast?: Cast
  /** Converts the short form to the long form. */
  readonly long?: ToLongForm
  /**
   * Merges the values of two files. Absent: mappings merge key by key, lists are appended, scalars
   * replaced (https://github.com/compose-spec/compose-spec/blob/main/13-merge.md).
   */
  readonly merge?: Merge
  /** Gives the identity of a list item. Of items with the same identity the last one is kept. */
  readonly identity?: Identity
  /** Makes relative paths absolute. */
  readonly path?: ResolvePath
  /** Adds Compose's default values. */
  readonly defaults?: AddDefaults
  /**
   * Converts the value to what `docker compose config` prints. Absent: by the shape (`printerOf`).
   */
  readonly print?: Print
  /** Members of the mapping that are printed even if they are absent. */
  readonly always?: Readonly<Record<string, (tree: Tree) => Tree>>
}

/** The types that text can be converted to. */
export type Cast = 'integer' | 'number' | 'boolean' | 'umask'

/**
 * Gives the long form, or the same tree if it already is. Undefined if the short form is invalid
 * (reported).
 */
export type ToLongForm = (tree: Tree, context: LongFormContext) => Tree | undefined

/** The context of a conversion to the long form. */
export interface LongFormContext {
  readonly reporter: Reporter
  /** Top-level `volumes`: a source of one letter is a volume only if declared there. */
  readonly volumes: MapTree | undefined
}

/** Merges the values of an earlier and a later definition. */
export type Merge = (base: Tree, override: Tree, merging: MergeContext) => Tree

/** Lets a merge rule use the general rules for a part of its value. */
export interface MergeContext {
  /** Merges key by key, with the rules of the keys. */
  maps(base: MapTree, override: MapTree): MapTree
  /** Merges as if there were no rule. */
  byKind(base: Tree, override: Tree): Tree
  /** Reports that the two cannot be merged. Gives the earlier one. */
  conflict(base: Tree, override: Tree): Tree
}

/** Gives the identity of a list item; undefined if it has none (other checks report that). */
export type Identity = (item: Tree) => string | undefined

/** Makes the relative paths in a value absolute. */
export type ResolvePath = (tree: Tree, base: PathBase) => Tree

/** The folder that relative paths are resolved against. */
export interface PathBase {
  /** Absolute path that relative paths are resolved against. */
  readonly directory: string
  readonly host: CompilerHost
}

/** Adds default values to a value of the canonical model. */
export type AddDefaults = (tree: Tree) => Tree

/**
 * Converts a value of the canonical model to what `config` prints; undefined omits it. Reports an
 * invalid value and sets `failed`.
 */
export type Print = (tree: Tree, context: PrintContext) => Tree | undefined

/** The context of printing one entry of a section. */
export interface PrintContext {
  readonly reporter: Reporter
  /** Set to true by a printer that reports an invalid value. */
  failed: boolean
}
