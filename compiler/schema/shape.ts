import type { Severity } from '../diagnostics/diagnostic.ts'
import type { MapTree, Tree } from '../text/tree.ts'
import type { LoadRules } from './loading.ts'

/**
 * What may stand in one place of a Compose file: at most one form for each kind of node. What was written decides which form it must
 * have, so that a mistake has one explanation (JSON Schema's `oneOf` has as many as it has branches).
 */
export interface Shape extends LoadRules {
  readonly scalar?: ScalarForm
  readonly list?: ListForm
  readonly map?: MapForm
  /** The structure is somebody else's: whatever stands here is taken. */
  readonly any?: boolean
}

export interface ScalarForm {
  readonly types: readonly ValueType[]
  /** Bounds of numbers. */
  readonly minimum?: number
  readonly maximum?: number
  /** The words that text must be one of. */
  readonly words?: readonly string[]
  /** Text beyond the words that is allowed too, or what all text must be like when there are no words. */
  readonly pattern?: RegExp
  /** How to say what `pattern` wants: `` `on-failure:3` ``, `digits`. */
  readonly like?: string
  /** Text that is taken, with a warning that says this about it. */
  readonly odd?: { readonly pattern: RegExp; readonly says: string }
}

/** JSON Schema's names: an `integer` may be written `2.0`, a `number` is any; `string` includes dates. */
export type ValueType = 'string' | 'integer' | 'number' | 'boolean' | 'null'

export interface ListForm {
  readonly items: Shape
  /** Equal items are an error. Only where neither a merge rule nor the loader drops them before. */
  readonly unique?: boolean
}

export interface MapForm {
  /** The keys that have a meaning of their own. */
  readonly keys: Readonly<Record<string, Row | Shape>>
  readonly required: readonly string[]
  /** What the user names: the keys that are not in `keys`. Without it they are unknown. */
  readonly others?: Others
  /** Whether `x-*` keys are extensions, whatever their value. */
  readonly extensions: boolean
  /** Unknown keys are errors unless the reference ignores them: then a warning. */
  readonly unknown: 'error' | 'warning'
  /** Where two notations are both mappings: the one that this mapping is in. This form then has the keys of both. */
  readonly choose?: (tree: MapTree) => MapForm
  /** All that `choose` may give. */
  readonly notations?: readonly MapForm[]
}

export interface Others {
  readonly row: Row | Shape
  readonly names: RegExp
  /** What names that do not match are: an error, or something that nobody reads. */
  readonly otherwise: 'error' | 'ignored'
  /** What the name is called in the documentation. */
  readonly called: string
}

/**
 * What becomes of a key: `mapped` to Kubernetes; `approximated`, so that something is lost; `none`,
 * it means nothing in a cluster; `refused`, because the application would not be what the file says; `cli`, used by devctl itself.
 */
export type Fate = 'mapped' | 'approximated' | 'none' | 'refused' | 'cli'

/** One key: what may be written, what the loader does with it, and what becomes of it. */
export interface Row extends LoadRules {
  readonly shape: Shape
  readonly fate: Fate
  /** What it becomes, in Markdown; empty where nothing comes of it. */
  readonly becomes: string
  readonly note?: string
  /** The diagnostic for every use of the key. Absent where it depends on the plan: then the planner reports. */
  readonly loss?: Loss
}

export interface Loss {
  /** The first half of the code: `ulimits`. Rows that share it share the diagnostic. */
  readonly family: string
  readonly severity: Severity
  /** What the diagnostic says instead of the usual sentence. */
  readonly message?: string
  /** What it says about the key instead of `has no equivalent in Kubernetes and is left out`. */
  readonly says?: string
  /** Why, in full sentences, for `devctl explain`. */
  readonly why: string
  readonly hint?: string
  /** Whether this value loses nothing, so that there is nothing to report. */
  readonly harmless?: Judge
  /** Whether the cluster does what this value asks for anyway, so that an info is enough. */
  readonly minor?: Judge
}

/** Judges the value of a key; `owners` are the mappings around it, the one that holds the key first. */
export type Judge = (value: Tree, owners: readonly MapTree[], key: string) => boolean

/** The names of services and of all top-level resources. */
export const resourceName = /^[a-zA-Z0-9._-]+$/

const scalar = (types: readonly ValueType[], more?: Omit<ScalarForm, 'types'>): Shape => ({
  scalar: { types, ...more },
})

/** Text. */
export const text = (more?: Pick<ScalarForm, 'pattern' | 'like' | 'odd'>): Shape => scalar(['string'], more)

/** One of some words, or text like `pattern`. */
export const word = (words: readonly string[], more?: Pick<ScalarForm, 'pattern' | 'like'>): Shape =>
  scalar(['string'], { words, ...more })

type Bounds = Pick<ScalarForm, 'minimum' | 'maximum'>

/** A whole number; text stays where a variable's value could not be cast, or where the reader converts it. */
export const integer = (bounds?: Bounds): Shape => scalar(['integer', 'string'], bounds)

/** A whole number that may not be written as text. */
export const strictInteger = (bounds?: Bounds): Shape => scalar(['integer'], bounds)

/** Any number, or text that the reader converts: a size, a number of CPUs. */
export const number = (bounds?: Bounds): Shape => scalar(['number', 'string'], bounds)

/** Any number, but no text. */
export const strictNumber = (): Shape => scalar(['number'])

/** True or false, or text that the reader converts. */
export const flag = (): Shape => scalar(['boolean', 'string'])

/** True or false only. */
export const strictFlag = (): Shape => scalar(['boolean'])

/** A value of a map such as `environment`: anything that can be written as text, or nothing. */
export const value = (): Shape => scalar(['string', 'number', 'boolean', 'null'])

/** A scalar of exactly these types. */
export const anyOf = (...types: readonly ValueType[]): Shape => scalar(types)

export const list = (items: Shape, options: { unique?: boolean } = {}): Shape => ({ list: { items, ...options } })

/** A mapping with fixed keys; other keys are errors unless they begin with `x-`. */
export const object = (
  keys: Readonly<Record<string, Row | Shape>>,
  options: { required?: readonly string[]; open?: boolean } = {},
): Shape => ({
  map: { keys, required: options.required ?? [], extensions: true, unknown: options.open ? 'warning' : 'error' },
})

/** A mapping whose keys the user chooses. `x-*` is a name like any other. */
export const record = (
  row: Row | Shape,
  options: {
    names?: RegExp
    otherwise?: 'error' | 'ignored'
    called?: string
    keys?: Readonly<Record<string, Row | Shape>>
    extensions?: boolean
  } = {},
): Shape => ({
  map: {
    keys: options.keys ?? {},
    required: [],
    others: {
      row,
      names: options.names ?? /./s,
      otherwise: options.otherwise ?? 'error',
      called: options.called ?? 'KEY',
    },
    extensions: options.extensions ?? false,
    unknown: 'error',
  },
})

/** Options of a driver: text and numbers, and more types where they are named. */
export const options = (...more: readonly ValueType[]): Shape =>
  record(scalar(['string', 'number', ...more]), { called: 'OPTION', otherwise: 'ignored' })

/** One of several forms, each of another kind of node: text or a list, a list or a mapping. */
export const either = (...shapes: readonly Shape[]): Shape => Object.assign({}, ...shapes)

/** The shape, or nothing: a key without a value. */
export const orNull = (shape: Shape): Shape => ({
  ...shape,
  scalar: { ...shape.scalar, types: [...(shape.scalar?.types ?? []), 'null'] },
})

/** `KEY: value` or a list of `KEY=value`. `unique`: see {@link ListForm}. */
export const keyValues = (options: { unique?: boolean } = {}): Shape => either(record(value()), list(text(), options))

/** Text, or a list of it. */
export const textOrList = (options: { unique?: boolean } = {}): Shape => either(text(), list(text(), options))

/** A command: text that is split into words, or the words; nothing clears what was there. */
export const command = (): Shape => orNull(textOrList())
