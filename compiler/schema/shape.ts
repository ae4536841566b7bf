import type { Severity } from '../diagnostics/diagnostic.ts'
import type { MapTree, Tree } from '../text/tree.ts'
import type { LoadRules } from './load-rules.ts'

/**
 * The values that one place of a file accepts: at most one form for each kind of node. The kind of
 * the value selects the form, so that an error has one message (JSON Schema's `oneOf` gives one for
 * each branch).
 */
export interface Shape extends LoadRules {
  readonly scalar?: ScalarForm
  readonly list?: ListForm
  readonly map?: MapForm
  /** Any value is accepted, because another tool defines its structure. */
  readonly any?: boolean
}

/** The scalars that a shape accepts. */
export interface ScalarForm {
  readonly types: readonly ValueType[]
  /** Bounds of numbers. */
  readonly minimum?: number
  readonly maximum?: number
  /** Numbers are written without a point or an exponent: `2.0` is refused. */
  readonly digitsOnly?: true
  /** The allowed words. */
  readonly words?: readonly string[]
  /** Allowed text: in addition to `words`, or on its own. */
  readonly pattern?: RegExp
  /** Describes `pattern` in messages: `` `on-failure:3` ``, `digits`. */
  readonly like?: string
  /** Gives the hint for a number or boolean, as written, that is not valid text in quotes, either. */
  readonly hintForUnquoted?: (written: string) => string
  /** Text that is accepted with a warning, and the text of the warning. */
  readonly odd?: { readonly pattern: RegExp; readonly says: string }
}

/** Types as JSON Schema names them: `integer` includes `2.0`, `string` includes YAML's dates. */
export type ValueType = 'string' | 'integer' | 'number' | 'boolean' | 'null'

/** The lists that a shape accepts. */
export interface ListForm {
  readonly items: Shape
  /**
   * Equal items are an error. Of use only where neither a merge rule nor the loader removes them.
   */
  readonly unique?: boolean
}

/** The mappings that a shape accepts. */
export interface MapForm {
  /** The fixed keys. */
  readonly keys: Readonly<Record<string, Row | Shape>>
  readonly required: readonly string[]
  /** The keys that the user chooses, beside `keys`. Absent: they are unknown keys. */
  readonly others?: Others
  /** `x-*` keys are extensions and accept any value. */
  readonly extensions: boolean
  /** The severity of unknown keys: a warning where Docker Compose ignores them. */
  readonly unknown: 'error' | 'warning'
  /** If two notations are both mappings: selects the form. This form then has the keys of both. */
  readonly choose?: (tree: MapTree) => MapForm
  /** All forms that `choose` may give. */
  readonly notations?: readonly MapForm[]
}

/** The keys of a mapping that the user chooses. */
export interface Others {
  readonly row: Row | Shape
  readonly names: RegExp
  /** Treatment of names that do not match. */
  readonly otherwise: 'error' | 'ignored'
  /** The placeholder for the name in the documentation. */
  readonly called: string
}

/**
 * Support of a key: `mapped` to Kubernetes; `approximated`, with some loss; `none`, it has no meaning in a cluster;
 * `refused`, because the application would behave differently without it; `cli`, used by devctl itself.
 */
export type Fate = 'mapped' | 'approximated' | 'none' | 'refused' | 'cli'

/** All rules of one key: its shape, how it is loaded, and how Kubernetes supports it. */
export interface Row extends LoadRules {
  readonly shape: Shape
  readonly fate: Fate
  /** The equivalent in Kubernetes, in Markdown; empty if there is none. */
  readonly becomes: string
  readonly note?: string
  /**
   * The diagnostic for every use of the key. Absent if it depends on the plan: the planner reports
   * it.
   */
  readonly loss?: Loss
}

/** The diagnostic about a key that Kubernetes does not support, or supports in part. */
export interface Loss {
  /** The first part of the diagnostic code: `ulimits`. Rows with the same family share it. */
  readonly family: string
  readonly severity: Severity
  /** Replaces the whole message. */
  readonly message?: string
  /** Replaces the words `has no equivalent in Kubernetes and is left out` in the message. */
  readonly says?: string
  /** The reason, in full sentences, for `devctl explain`. */
  readonly why: string
  readonly hint?: string
  /** True for a value whose loss changes nothing: it is not reported. */
  readonly harmless?: ValuePredicate
  /** True for a value that the cluster satisfies anyway: the diagnostic is an info. */
  readonly minor?: ValuePredicate
}

/** Tests the value of a key. `owners` are the enclosing mappings, the innermost first. */
export type ValuePredicate = (value: Tree, owners: readonly MapTree[], key: string) => boolean

/** The names of services and of all top-level resources. */
export const resourceName = /^[a-zA-Z0-9._-]+$/

const scalar = (types: readonly ValueType[], more?: Omit<ScalarForm, 'types'>): Shape => ({
  scalar: { types, ...more },
})

/** Shape of a text. */
export const text = (more?: Pick<ScalarForm, 'pattern' | 'like' | 'odd' | 'hintForUnquoted'>): Shape =>
  scalar(['string'], more)

/** A word of `words`, or text that matches `pattern`. */
export const word = (words: readonly string[], more?: Pick<ScalarForm, 'pattern' | 'like'>): Shape =>
  scalar(['string'], { words, ...more })

type Bounds = Pick<ScalarForm, 'minimum' | 'maximum'>

/** A whole number, or text that a variable gives or the reader converts. */
export const integer = (bounds?: Bounds): Shape => scalar(['integer', 'string'], bounds)

/** A whole number, not as text. */
export const strictInteger = (bounds?: Bounds): Shape => scalar(['integer'], bounds)

/** Any number, or text that the reader converts: a size, a number of CPUs. */
export const number = (bounds?: Bounds): Shape => scalar(['number', 'string'], bounds)

/** Any number, not as text. */
export const strictNumber = (): Shape => scalar(['number'])

/** A boolean, or text that the reader converts. */
export const flag = (): Shape => scalar(['boolean', 'string'])

/** A boolean, not as text. */
export const strictFlag = (): Shape => scalar(['boolean'])

/** A value of a mapping such as `environment`: any scalar, or null. */
export const value = (): Shape => scalar(['string', 'number', 'boolean', 'null'])

/** The shape, with numbers that are written in digits: `80`, not `80.0`. */
export const inDigits = (shape: Shape): Shape => ({
  ...shape,
  scalar: { types: [], ...shape.scalar, digitsOnly: true },
})

/** A scalar of one of these types. */
export const anyOf = (...types: readonly ValueType[]): Shape => scalar(types)

/** A list of items with one shape. */
export const list = (items: Shape, options: { unique?: boolean } = {}): Shape => ({ list: { items, ...options } })

/**
 * A mapping with fixed keys. Other keys are errors (`open`: warnings) unless they begin with `x-`.
 */
export const object = (
  keys: Readonly<Record<string, Row | Shape>>,
  options: { required?: readonly string[]; open?: boolean } = {},
): Shape => ({
  map: { keys, required: options.required ?? [], extensions: true, unknown: options.open ? 'warning' : 'error' },
})

/** A mapping whose keys the user chooses, `x-*` among them. */
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

/** Options of a driver: text, numbers and the types in `more`. */
export const options = (...more: readonly ValueType[]): Shape =>
  record(scalar(['string', 'number', ...more]), { called: 'OPTION', otherwise: 'ignored' })

/** A choice of several shapes with different kinds of nodes: text or a list, a list or a mapping. */
export const either = (...shapes: readonly Shape[]): Shape => Object.assign({}, ...shapes)

/** The shape, or null (a key without a value). */
export const orNull = (shape: Shape): Shape => ({
  ...shape,
  scalar: { ...shape.scalar, types: [...(shape.scalar?.types ?? []), 'null'] },
})

/** A mapping of `KEY: value`, or a list of `KEY=value`. `unique`: see {@link ListForm}. */
export const keyValues = (options: { unique?: boolean } = {}): Shape => either(record(value()), list(text(), options))

/** Text, or a list of text. */
export const textOrList = (options: { unique?: boolean } = {}): Shape => either(text(), list(text(), options))

/** A command: text that is split into words, or a list of words. Null removes an earlier value. */
export const command = (): Shape => orNull(textOrList())
