import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Print, PrintContext } from '../../schema/load-rules.ts'
import { spanInside } from '../../text/span-inside.ts'
import {
  type Entry,
  isMap,
  type MapTree,
  type Piece,
  type ScalarTree,
  scalarTree,
  type Tree,
  type UsedVariable,
} from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'
import { parseBytes } from '../../values/numbers/bytes.ts'
import { formatDuration, parseDuration } from '../../values/numbers/duration.ts'
import { formatFileMode, octalDigits, parseFileMode } from '../../values/numbers/file-mode.ts'
import { goFloat, toBool, toFloat, toInt } from '../../values/numbers/go-number.ts'
import type { Failed } from '../../values/parsed.ts'
import { splitWordsAt } from '../../values/words.ts'

const badValue = diagnostic({
  code: 'schema/bad-value',
  severity: 'error',
  explain:
    'The value cannot be parsed. Durations are numbers with units (`1h30m`, `500ms`), sizes are numbers with an optional unit (`512m`, `1.5g`; units are powers of 1024), file modes are octal (`0440`), commands are words with quotes as in a shell.',
  text: (p: { text: string; what: string; reason: string; hint?: string | undefined }) => ({
    message: `bad ${p.what} \`${p.text}\`: ${p.reason}`,
    hint: p.hint,
  }),
})
const decimalMode = diagnostic({
  code: 'file-mounts/decimal-mode',
  severity: 'warning',
  explain: `Write a mode in octal: \`0440\`, \`0o440\` or \`"0440"\`. YAML reads a plain \`440\` as a decimal number, which is \`0670\` in octal: not the permissions that were meant. If the digits are a common mode, devctl reads them as octal; Compose does not. Other numbers, such as \`420\` (which is \`0644\`), stay decimal.

\`\`\`yaml
secrets:
  - source: token
    mode: 440    # read as 0440
    mode: 0440   # unambiguous
\`\`\``,
  text: (p: { written: string; octal: string; isOctal: boolean }) => ({
    message: p.isOctal
      ? `the mode \`${p.written}\` is read as octal, \`${p.octal}\``
      : `the mode \`${p.written}\` is a decimal number: \`${p.octal}\` in octal`,
    hint: `write \`${p.octal}\``,
  }),
})
const negative = diagnostic({
  code: 'schema/negative',
  severity: 'error',
  explain: 'This value is a count or a duration and must not be negative.',
  text: (p: { text: string }) => ({ message: `\`${p.text}\` must not be negative` }),
})
const trailingSpace = diagnostic({
  code: 'environment/space-before-equals',
  severity: 'error',
  explain:
    'An item of an environment list is `NAME=value`, without spaces around the equals sign. A space before it would become part of the name.',
  text: (p: { name: string }) => ({
    message: `the variable \`${p.name}\` has a space before \`=\``,
    hint: `write \`${p.name.trim()}=…\``,
  }),
})

const emptyLabel = diagnostic({
  code: 'labels/empty-name',
  severity: 'error',
  explain: `A label needs a name. The item is empty, or starts with \`=\`, often because a variable has no value.

\`\`\`yaml
labels:
  - =production           # no name
  - tier=production
\`\`\``,
  text: () => ({ message: 'a label has no name', hint: 'write `NAME=value`' }),
})

const isScalar = (tree: Tree): tree is ScalarTree => tree.kind === 'scalar'
const made = (from: ScalarTree, value: string | number | boolean | null): ScalarTree => ({
  ...scalarTree(from.span, value),
  ...(from.replaced && { replaced: from.replaced }),
  ...(from.variables && { variables: from.variables, ...(from.template !== undefined && { template: from.template }) }),
  ...(from.missing && { missing: from.missing }),
  ...(from.pieces && value === from.value && { pieces: from.pieces }),
  ...(from.style && value === from.value && { style: from.style }),
})

function fail(scalar: ScalarTree, what: string, failed: Failed, context: PrintContext): undefined {
  const span = failed.start === undefined ? scalar.span : spanInside(scalar, failed.start, failed.end ?? failed.start)
  context.reporter.report(badValue, span, { text: scalarText(scalar), what, reason: failed.reason, hint: failed.hint })
  context.failed = true
  return undefined
}

/** Prints text; empty text is omitted. */
export const text: Print = tree => {
  if (!isScalar(tree) || tree.type === 'null') return undefined
  const value = scalarText(tree)
  return value === '' ? undefined : tree.type === 'string' ? tree : made(tree, value)
}

/** Prints text in a list; empty text is kept. */
export const item: Print = tree =>
  isScalar(tree) ? (tree.type === 'string' ? tree : made(tree, scalarText(tree))) : tree

const boolean: Print = (tree, context) => {
  if (!isScalar(tree) || tree.type !== 'string') return tree
  const parsed = toBool(tree.value as string)
  return parsed.ok ? made(tree, parsed.value) : fail(tree, 'boolean', parsed, context)
}
/** Prints a boolean; false is omitted. */
export const flag: Print = (tree, context) => {
  const value = boolean(tree, context)
  return value?.kind === 'scalar' && value.value === true ? value : undefined
}
/** Prints a boolean if it is set. */
export const optionalFlag: Print = (tree, context) =>
  isScalar(tree) && tree.type === 'null' ? undefined : boolean(tree, context)
/** Prints a boolean; true, the default, is omitted. */
export const optOut: Print = (tree, context) => {
  const value = boolean(tree, context)
  return value?.kind === 'scalar' && value.value === false ? value : undefined
}

/** Prints an integer if it is set. */
export const optionalInteger: Print = (tree, context) => {
  if (!isScalar(tree) || tree.type === 'null') return undefined
  if (tree.type === 'int') return tree
  if (tree.type === 'float') return made(tree, Math.trunc(tree.value as number))
  const parsed = toInt(scalarText(tree))
  if (!parsed.ok) return fail(tree, 'number', parsed, context)
  return typeof parsed.value === 'bigint' ? { ...made(tree, 0), value: parsed.value } : made(tree, parsed.value)
}
const notNegative =
  (printer: Print): Print =>
  (tree, context) => {
    const result = printer(tree, context)
    if (result?.kind !== 'scalar' || Number(result.value) >= 0) return result
    context.reporter.report(negative, result.span, { text: scalarText(result) })
    context.failed = true
    return undefined
  }
const unlessZero =
  (printer: Print): Print =>
  (tree, context) => {
    const result = printer(tree, context)
    return result?.kind === 'scalar' && Number(result.value) === 0 ? undefined : result
  }
/** Prints an integer; zero is omitted. */
export const integer: Print = unlessZero(optionalInteger)
/** Prints an integer that must not be negative, if it is set. */
export const optionalCount: Print = notNegative(optionalInteger)
/** Prints an integer that must not be negative; zero is omitted. */
export const count: Print = unlessZero(optionalCount)

/**
 * Returns a printer for floating-point numbers with the precision of Docker Compose (32 or 64 bits); zero is omitted.
 */
const float =
  (bits: 32 | 64): Print =>
  (tree, context) => {
    if (!isScalar(tree) || tree.type === 'null') return undefined
    const parsed =
      tree.type === 'string' ? toFloat(tree.value as string) : { ok: true as const, value: Number(tree.value) }
    if (!parsed.ok) return fail(tree, 'number', parsed, context)
    const value = bits === 32 ? Number(goFloat(parsed.value, 32)) : parsed.value
    return value === 0
      ? undefined
      : { ...made(tree, value), ...(tree.type === 'string' && { template: tree.template ?? (tree.value as string) }) }
  }
/** Prints a number of CPUs that must not be negative; zero is omitted. */
export const cpus: Print = notNegative(float(32))
/** Prints a floating-point number; zero is omitted. */
export const ratio: Print = float(32)

/** Prints a duration in Go's format (`1m30s`), if it is set. */
export const optionalDuration: Print = (tree, context) => durationWith(tree, context, {})
/** Prints a duration; a number without a unit is in seconds. */
export const secondsOrDuration: Print = (tree, context) => durationWith(tree, context, { unitless: 'seconds' })
function durationWith(tree: Tree, context: PrintContext, options: { unitless?: 'seconds' }): Tree | undefined {
  if (!isScalar(tree) || tree.type === 'null') return undefined
  const parsed = parseDuration(scalarText(tree), options)
  if (!parsed.ok) return fail(tree, 'duration', parsed, context)
  if (parsed.value < 0n) {
    context.reporter.report(negative, tree.span, { text: scalarText(tree) })
    context.failed = true
    return undefined
  }
  return made(tree, formatDuration(parsed.value))
}
/** Prints a duration in Go's format; zero is omitted. */
export const duration: Print = (tree, context) => {
  const result = optionalDuration(tree, context)
  return result?.kind === 'scalar' && result.value === '0s' ? undefined : result
}

/** Prints microseconds from a number or a duration. Docker Compose accepts only numbers. */
export const microseconds: Print = (tree, context) => {
  if (!isScalar(tree) || tree.type !== 'string' || /^[-+]?\d+$/.test(tree.value as string))
    return integer(tree, context)
  const parsed = parseDuration(tree.value as string)
  return parsed.ok ? made(tree, Number(parsed.value / 1000n)) : fail(tree, 'duration', parsed, context)
}

/** Prints a size as text: its number of bytes; zero is omitted. */
export const bytes: Print = (tree, context) => {
  if (!isScalar(tree) || tree.type === 'null') return undefined
  const value = tree.type === 'int' || tree.type === 'float' ? (tree.value as number | bigint) : scalarText(tree)
  const parsed = parseBytes(value)
  if (!parsed.ok) return fail(tree, 'size', parsed, context)
  return parsed.value === 0n ? undefined : made(tree, String(parsed.value))
}

/** Prints a file mode in octal. Warns if the file contains the mode as a decimal number. */
export const fileMode: Print = (tree, context) => {
  if (!isScalar(tree) || tree.type === 'null') return undefined
  const written = tree.span.file.text.slice(tree.span.start, tree.span.end)
  const digits = tree.type === 'int' ? octalDigits(written) : undefined
  const parsed = parseFileMode(tree.type === 'string' ? (tree.value as string) : (digits ?? (tree.value as number)))
  if (!parsed.ok) return fail(tree, 'file mode', parsed, context)
  const octal = formatFileMode(parsed.value)
  if (tree.type === 'int' && /^[1-7][0-7]{2,3}$/.test(written))
    context.reporter.report(decimalMode, tree.span, { written, octal, isOctal: digits !== undefined })
  return made(tree, octal)
}

/** Prints a command as a list of arguments. Null is kept, because it means the image's command. */
export const words: Print = (tree, context) => {
  if (tree.kind === 'seq') return { ...tree, items: tree.items.map(word => item(word, context) ?? word) }
  if (!isScalar(tree) || tree.type === 'null') return tree
  const parsed = splitWordsAt(scalarText(tree))
  if (!parsed.ok) return fail(tree, 'command', parsed, context)
  const { span } = tree
  const variablesOf = variablesByPart(tree)
  const items = parsed.value.map(({ word, start, end }) => {
    const variables = variablesOf(start, end)
    // Every check of the argument looks at its variables.
    context.reporter.budget.spend('text', CHECKED * variables.length, span)
    return { ...scalarTree(span, word), ...(variables.length > 0 && { variables }) }
  })
  return { kind: 'seq', span, items }
}

/**
 * Number of characters that each variable in an argument counts as in the `text` budget. Variables count because every
 * check of the argument also looks at them.
 */
const CHECKED = 16

/**
 * Returns a function that finds the variables in a part of a value. It must be called for the parts in the order of the
 * text. If every part had all variables of the value, checks would take quadratic time, and a secret in one part would
 * make the other parts secret. The last `Piece` of a long text has no exact positions, so all parts in it have all its
 * variables.
 */
function variablesByPart({
  variables = [],
  pieces,
}: ScalarTree): (start: number, end: number) => readonly UsedVariable[] {
  if (!pieces || variables.length === 0) return () => variables
  let nextPiece = 0
  let nextVariable = 0
  let open: UsedVariable[] = []
  let coarse: Piece | undefined
  return (start, end) => {
    while (nextPiece < pieces.length && pieces[nextPiece]!.at + pieces[nextPiece]!.length <= start) nextPiece++
    const first = pieces[nextPiece]
    if (!first || first.at >= end) return []
    if (first === coarse && first.at + first.length >= end) return open
    let last = first
    for (let index = nextPiece; index < pieces.length && pieces[index]!.at < end; index++) last = pieces[index]!
    // Expressions may contain others, which begin later and end earlier.
    const from = spanAt(first, start)
    const to = last.verbatim ? spanAt(last, end) : last.span.end
    open = open.filter(({ span }) => span.end > from)
    while (nextVariable < variables.length && variables[nextVariable]!.span.start < to) {
      const variable = variables[nextVariable++]!
      if (variable.span.end > from) open.push(variable)
    }
    if (first === last && !first.verbatim) coarse = first
    return open
  }
}

/**
 * Converts an offset in a value to the offset in the source. The piece is the part of the value that contains the
 * offset; without exact positions (`verbatim`), returns the start of its span.
 */
const spanAt = ({ at, span, verbatim }: Piece, offset: number): number =>
  verbatim ? span.start + Math.max(0, offset - at) : span.start

/**
 * Returns a printer for a list, which may be written as a single item. `printer` prints the items; an empty list is
 * omitted.
 */
export const list =
  (printer: Print = item): Print =>
  (tree, context) => {
    if (isScalar(tree) && tree.type === 'null') return undefined
    const items = tree.kind === 'seq' ? tree.items : [tree]
    const printed = items.map(value => printer(value, context)).filter(value => value !== undefined)
    return printed.length === 0 ? undefined : { kind: 'seq', span: tree.span, items: printed }
  }
/** Prints a list of text, from a list or text. */
export const texts: Print = list()

/**
 * Returns a printer for a mapping with names that the user chooses. `printer` prints the values; an empty mapping is
 * omitted.
 */
export const mapOf =
  (printer: Print): Print =>
  (tree, context) => {
    if (!isMap(tree)) return undefined
    const entries = new Map<string, Entry>()
    for (const [key, { key: span, value }] of tree.entries) {
      const printed = printer(value, context)
      if (printed) entries.set(key, { key: span, value: printed })
    }
    return entries.size === 0 ? undefined : { ...tree, entries }
  }

/**
 * Returns a printer for a mapping of names to text, or a list of `NAME=value`. `missing` is the value of a name without
 * a value. `checkNames` is true for variables, whose names must not end with a blank.
 */
const pairs =
  (missing: 'null' | 'empty', checkNames: boolean): Print =>
  (tree, context) => {
    const entries = new Map<string, Entry>()
    if (isMap(tree)) {
      for (const [key, { key: span, value }] of tree.entries)
        if (isScalar(value))
          entries.set(key, {
            key: span,
            value: value.type === 'null' ? made(value, missing === 'null' ? null : '') : item(value, context)!,
          })
    } else if (tree.kind === 'seq') {
      for (const pair of tree.items.filter(isScalar)) {
        const whole = scalarText(pair)
        const at = whole.indexOf('=')
        const name = at < 0 ? whole : whole.slice(0, at)
        if (checkNames && /\s$/.test(name)) {
          context.reporter.report(trailingSpace, spanInside(pair, 0, name.length), { name })
          context.failed = true
          continue
        }
        // `readEnvironment` reports empty names of variables.
        if (!checkNames && name === '') {
          context.reporter.report(emptyLabel, pair.span, {})
          context.failed = true
          continue
        }
        entries.set(name, {
          key: spanInside(pair, 0, name.length),
          value: at < 0 ? { ...made(pair, missing === 'null' ? null : '') } : valuePart(pair, at + 1),
        })
      }
    } else return undefined
    return entries.size === 0 ? undefined : { kind: 'map', span: tree.span, entries }
  }

/** Returns the value in a `NAME=value` scalar, with its spans. */
function valuePart(pair: ScalarTree, from: number): ScalarTree {
  const whole = scalarText(pair)
  const pieces = pair.pieces?.filter(
    piece => piece.at + piece.length > from || (piece.at >= from && piece.length === 0),
  )
  return {
    ...scalarTree(spanInside(pair, from, whole.length), whole.slice(from)),
    ...(pair.replaced && { replaced: pair.replaced }),
    ...(pair.variables && { variables: pair.variables, template: pair.template?.slice(from) ?? '' }),
    ...(pieces?.every(piece => piece.at >= from) && {
      pieces: pieces.map(piece => ({ ...piece, at: piece.at - from })),
    }),
  }
}

/** Prints variables; a name without `=` has the value null. */
export const environment: Print = pairs('null', true)
/** Prints labels; a name without `=` has an empty value. */
export const labels: Print = pairs('empty', false)
/** Prints options of a driver, in the same way as labels. */
export const options: Print = labels

/**
 * Returns a printer for a mapping with fixed keys. Keys without a printer, such as `x-*`, are omitted. `always` has
 * functions that return the values of keys that are printed even if they are absent.
 */
export const record =
  (printers: Readonly<Record<string, Print>>, always: Readonly<Record<string, (tree: Tree) => Tree>> = {}): Print =>
  (tree, context) => {
    if (!isMap(tree)) return undefined
    const entries = new Map<string, Entry>()
    for (const [key, { key: span, value }] of tree.entries) {
      const printer = Object.hasOwn(printers, key) ? printers[key] : undefined
      const printed = printer?.(value, context)
      if (printed) entries.set(key, { key: span, value: printed })
    }
    for (const [key, make] of Object.entries(always))
      if (!entries.has(key)) entries.set(key, { key: tree.span, value: make(tree) })
    return { ...tree, entries }
  }

/** Returns a printer that prints null as null, and any other value with `printer`. */
export const nullOr =
  (printer: Print): Print =>
  (tree, context) =>
    isScalar(tree) && tree.type === 'null' ? tree : printer(tree, context)

/** Prints the value unchanged. */
export const asIs: Print = tree => tree

// Values that are printed for absent members.

/** Prints null. */
export const nothing = (tree: Tree): ScalarTree => scalarTree(tree.span, null)
/** Prints an empty mapping. */
export const emptyMap = (tree: Tree): MapTree => ({ kind: 'map', span: tree.span, entries: new Map() })
/** Prints empty text. */
export const emptyText = (tree: Tree): ScalarTree => scalarTree(tree.span, '')
/** Prints zero. */
export const zero = (tree: Tree): ScalarTree => scalarTree(tree.span, 0)
/** Prints zero as text. */
export const zeroText = (tree: Tree): ScalarTree => scalarTree(tree.span, '0')
/** Prints a hook without a command. */
export const emptyHook = (tree: Tree): MapTree => ({
  ...emptyMap(tree),
  entries: new Map([['command', { key: tree.span, value: nothing(tree) }]]),
})
