import type { Severity } from '../diagnostics/diagnostic.ts'
import type { MapTree, Tree } from '../text/tree.ts'
import type { LoadRules } from './load-rules.ts'

/**
 * The values that one position of a file accepts: at most one form for each kind of node. The kind of the value selects
 * the form, so each error produces a single message. (JSON Schema's `oneOf` produces one for each branch.)
 */
export interface Shape extends LoadRules {
  readonly scalar?: ScalarForm
  readonly list?: ListForm
  readonly map?: MapForm
  /** True if any value is accepted, because another tool defines its structure. */
  readonly any?: boolean
}

/** The scalars that a shape accepts. */
export interface ScalarForm {
  readonly types: readonly ValueType[]
  /** Bounds of numbers. */
  readonly minimum?: number
  readonly maximum?: number
  /** True if numbers must be written without a point or an exponent: `2.0` is refused. */
  readonly digitsOnly?: true
  /** The allowed values. */
  readonly words?: readonly string[]
  /** Pattern of allowed text. If `words` is set as well, text is also allowed if it is one of the words. */
  readonly pattern?: RegExp
  /** Description of `pattern` for messages, such as `` `on-failure:3` `` or `digits`. */
  readonly like?: string
  /**
   * Returns the hint for a number or boolean that would not be valid text even in quotes. The argument is its source
   * text.
   */
  readonly hintForUnquoted?: (written: string) => string
  /** Text that is accepted with a warning, and the message of the warning. */
  readonly odd?: { readonly pattern: RegExp; readonly says: string }
}

/** Types as JSON Schema names them: `integer` includes `2.0`, `string` includes YAML's dates. */
export type ValueType = 'string' | 'integer' | 'number' | 'boolean' | 'null'

/** The lists that a shape accepts. */
export interface ListForm {
  readonly items: Shape
  /** True if equal items are an error. Useful only if neither a merge rule nor the loader removes equal items. */
  readonly unique?: boolean
}

/** The mappings that a shape accepts. */
export interface MapForm {
  /** The fixed keys. */
  readonly keys: Readonly<Record<string, Row | Shape>>
  readonly required: readonly string[]
  /** The keys that the user chooses, in addition to `keys`. If absent, all other keys are unknown. */
  readonly others?: Others
  /** True if `x-*` keys are extensions, which accept any value. */
  readonly extensions: boolean
  /** The severity of unknown keys: a warning if Docker Compose ignores them. */
  readonly unknown: 'error' | 'warning'
  /**
   * Selects the form if a key has two notations that are both mappings. The form that has this function contains the
   * keys of both notations.
   */
  readonly choose?: (tree: MapTree) => MapForm
  /** All forms that `choose` may return. */
  readonly notations?: readonly MapForm[]
}

/** The keys of a mapping that the user chooses. */
export interface Others {
  readonly row: Row | Shape
  readonly names: RegExp
  /** Treatment of keys that do not match `names`. */
  readonly otherwise: 'error' | 'ignored'
  /** The placeholder for the name in the documentation. */
  readonly called: string
}

/**
 * Support of a key: `mapped` to Kubernetes; `approximated` with some loss; `none` if it has no meaning in a cluster;
 * `refused` if the application would behave differently without it; `cli` if only devctl itself uses it.
 */
export type Fate = 'mapped' | 'approximated' | 'none' | 'refused' | 'cli'

/** All rules of one key: its shape, how it is loaded, and how Kubernetes supports it. */
export interface Row extends LoadRules {
  readonly shape: Shape
  readonly fate: Fate
  /** The equivalent in Kubernetes, in Markdown; empty if there is none. */
  readonly becomes: string
  readonly note?: string
  /** The diagnostic for every use of the key. If absent, the planner reports the losses that depend on the plan. */
  readonly loss?: Loss
}

/** The diagnostic for a key that Kubernetes does not support, or supports only in part. */
export interface Loss {
  /** The first part of the diagnostic code, such as `ulimits`. Rows with the same family share the diagnostic. */
  readonly family: string
  readonly severity: Severity
  /** A message that replaces the usual one, if that would be wrong for this key. */
  readonly message?: string
  /** Words for the message, instead of `has no equivalent in Kubernetes and is left out`. */
  readonly says?: string
  /** The reason in full sentences, for `devctl explain`. */
  readonly why: string
  readonly hint?: string
  /** True for a value whose loss has no effect. Such a value is not reported. */
  readonly harmless?: ValuePredicate
  /** True for a value that the cluster satisfies anyway. The diagnostic is then an info. */
  readonly minor?: ValuePredicate
}

/** Tests the value of a key. `owners` are the enclosing mappings, innermost first. */
export type ValuePredicate = (value: Tree, owners: readonly MapTree[], key: string) => boolean

/** Matches the names of services and of all top-level resources. */
export const resourceName = /^[a-zA-Z0-9._-]+$/

const scalar = (types: readonly ValueType[], more?: Omit<ScalarForm, 'types'>): Shape => ({
  scalar: { types, ...more },
})

/** Returns the shape of a text, with optional constraints. */
export const text = (more?: Pick<ScalarForm, 'pattern' | 'like' | 'odd' | 'hintForUnquoted'>): Shape =>
  scalar(['string'], more)

/** Returns the shape of a text that is one of `words` or matches `pattern`. */
export const word = (words: readonly string[], more?: Pick<ScalarForm, 'pattern' | 'like'>): Shape =>
  scalar(['string'], { words, ...more })

type Bounds = Pick<ScalarForm, 'minimum' | 'maximum'>

/** Returns the shape of a whole number. Also accepts text, which comes from a variable or which the reader converts. */
export const integer = (bounds?: Bounds): Shape => scalar(['integer', 'string'], bounds)

/** Returns the shape of a whole number. Does not accept text. */
export const strictInteger = (bounds?: Bounds): Shape => scalar(['integer'], bounds)

/** Returns the shape of any number. Also accepts text that the reader converts, such as a size or a number of CPUs. */
export const number = (bounds?: Bounds): Shape => scalar(['number', 'string'], bounds)

/** Returns the shape of any number. Does not accept text. */
export const strictNumber = (): Shape => scalar(['number'])

/** Returns the shape of a boolean. Also accepts text that the reader converts. */
export const flag = (): Shape => scalar(['boolean', 'string'])

/** Returns the shape of a boolean. Does not accept text. */
export const strictFlag = (): Shape => scalar(['boolean'])

/** Returns the shape of a value in a mapping such as `environment`: any scalar, or null. */
export const value = (): Shape => scalar(['string', 'number', 'boolean', 'null'])

/** Returns the shape with numbers restricted to digits: `80` is allowed, `80.0` is not. */
export const inDigits = (shape: Shape): Shape => ({
  ...shape,
  scalar: { types: [], ...shape.scalar, digitsOnly: true },
})

/** Returns the shape of a scalar of one of the given types. */
export const anyOf = (...types: readonly ValueType[]): Shape => scalar(types)

/** Returns the shape of a list whose items all have the same shape. */
export const list = (items: Shape, options: { unique?: boolean } = {}): Shape => ({ list: { items, ...options } })

/**
 * Returns the shape of a mapping with fixed keys. Other keys are errors (with `open`, warnings) unless they begin with
 * `x-`.
 */
export const object = (
  keys: Readonly<Record<string, Row | Shape>>,
  options: { required?: readonly string[]; open?: boolean } = {},
): Shape => ({
  map: { keys, required: options.required ?? [], extensions: true, unknown: options.open ? 'warning' : 'error' },
})

/** Returns the shape of a mapping whose keys the user chooses, including `x-*` keys. */
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

/** Returns the shape of driver options: a mapping whose values are text, numbers, or of the types in `more`. */
export const options = (...more: readonly ValueType[]): Shape =>
  record(scalar(['string', 'number', ...more]), { called: 'OPTION', otherwise: 'ignored' })

/**
 * Returns a shape that accepts the values of several shapes, each for a different kind of node, such as text or a list.
 */
export const either = (...shapes: readonly Shape[]): Shape => Object.assign({}, ...shapes)

/** Returns the shape extended to accept null, which is a key without a value. */
export const orNull = (shape: Shape): Shape => ({
  ...shape,
  scalar: { ...shape.scalar, types: [...(shape.scalar?.types ?? []), 'null'] },
})

/**
 * Returns the shape of key-value pairs: a mapping of `KEY: value`, or a list of `KEY=value`. `unique`: see {@link
 * ListForm}.
 */
export const keyValues = (options: { unique?: boolean } = {}): Shape => either(record(value()), list(text(), options))

/** Returns the shape of a text, or a list of texts. */
export const textOrList = (options: { unique?: boolean } = {}): Shape => either(text(), list(text(), options))

/**
 * Returns the shape of a command: text that is split into arguments, or a list of arguments. Null removes an earlier
 * value.
 */
export const command = (): Shape => orNull(textOrList())
