import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import type { MapTree, Tree } from '../text/tree.ts'

/** The rules of a row or shape for the passes of the loader. A pass skips a value that has no rule for the pass. */
export interface LoadRules {
  /** The type that a string is converted to after its variables are substituted. */
  readonly cast?: Cast
  /** Converts the short form to the long form. */
  readonly long?: ToLongForm
  /**
   * Merges the values of two files. If absent, mappings are merged key by key, lists are appended and scalars are
   * replaced (https://github.com/compose-spec/compose-spec/blob/main/13-merge.md).
   */
  readonly merge?: Merge
  /** Returns the identity of a list item. If several items have the same identity, the last one is kept. */
  readonly identity?: Identity
  /** Makes relative paths absolute. */
  readonly path?: ResolvePath
  /** Adds Compose's default values. */
  readonly defaults?: AddDefaults
  /**
   * Converts the value to the output of `docker compose config`. If absent, the shape determines the conversion
   * (`printerOf`).
   */
  readonly print?: Print
  /**
   * Members of the mapping that are printed even if they are absent. The keys are the names of the members; each
   * function returns the value to print.
   */
  readonly always?: Readonly<Record<string, (tree: Tree) => Tree>>
}

/** The types that text can be converted to. */
export type Cast = 'integer' | 'number' | 'boolean' | 'umask'

/**
 * Returns the long form of a value, or the same tree if the value already has the long form. Returns undefined if the
 * short form is invalid, and reports it.
 */
export type ToLongForm = (tree: Tree, context: LongFormContext) => Tree | undefined

/** The context of a conversion to the long form. */
export interface LongFormContext {
  readonly reporter: Reporter
  /**
   * The top-level `volumes` of the file. The letter in `c:/x:/y` is the name of a volume if this mapping declares it,
   * otherwise a drive letter.
   */
  readonly volumes: MapTree | undefined
}

/** Merges the values of an earlier and a later definition. */
export type Merge = (base: Tree, override: Tree, merging: MergeContext) => Tree

/** The general merge rules, which a merge rule can apply to parts of its value. */
export interface MergeContext {
  /** Merges key by key, with the rules of the keys. */
  maps(base: MapTree, override: MapTree): MapTree
  /** Merges by the kinds of the values, as if no rule existed. */
  byKind(base: Tree, override: Tree): Tree
  /** Reports that the values cannot be merged. Returns the earlier value. */
  conflict(base: Tree, override: Tree): Tree
}

/** Returns the identity of a list item; undefined if the item has no identity. Other checks report such items. */
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
 * Converts a value of the canonical model to the output of `config`. Returns undefined to omit the value. Reports an
 * invalid value and sets `failed` in `context`.
 */
export type Print = (tree: Tree, context: PrintContext) => Tree | undefined

/** The context of printing one entry of a section. */
export interface PrintContext {
  readonly reporter: Reporter
  /** Set to true by a printer that reports an invalid value. */
  failed: boolean
}
