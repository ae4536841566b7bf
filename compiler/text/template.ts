import { type Braces, matchBraces } from './braces.ts'

/**
 * Returns the value of a variable and its origin for messages (`the shell`, `.env:3`); undefined if the variable is not
 * set. `isSecret` is set if the value must not be shown.
 */
export type Lookup = (
  name: string,
) => { readonly value: string; readonly origin: string; readonly isSecret?: true } | undefined

/**
 * A part of the value, and the part of the text that it comes from, as offsets. `verbatim` is true if the characters of
 * both parts are equal.
 */
export interface TemplatePiece {
  readonly at: number
  readonly length: number
  readonly start: number
  readonly end: number
  readonly verbatim: boolean
}

export interface TemplateResult {
  readonly value: string
  /** Pieces in order, without gaps. */
  readonly pieces: readonly TemplatePiece[]
  /**
   * The variables that were looked up, with the positions of their expressions. `origin` is the origin from the lookup,
   * or `its default` or `nowhere`.
   */
  readonly variables: readonly {
    readonly name: string
    readonly origin: string
    readonly start: number
    readonly end: number
    /** Set if the result contains the variable's value and the value is secret. */
    readonly isSecret?: true
  }[]
  /** Variables that were replaced with the empty string, because they are not set and the expression has no default. */
  readonly unset: readonly { readonly name: string; readonly start: number; readonly end: number }[]
}

export interface TemplateError {
  /**
   * The kind of error. `invalid`: the text is not a valid template. `required`: the variable of a `?` expression has no
   * value.
   */
  readonly kind: 'invalid' | 'required'
  readonly name?: string
  /** The error message. For `required`, the user's own message with its variables substituted, which may be empty. */
  readonly message: string
  readonly hint?: string
  readonly start: number
  readonly end: number
}

const MAX_DEPTH = 100
/**
 * Maximum length of a value. Variables that each refer twice to the previous one double the value with each step, so
 * forty lines of `.env` would exhaust the memory.
 */
const MAX_LENGTH = 1 << 24
/** Maximum number of pieces of a text whose positions are kept for messages; the rest counts as one piece. */
const MAX_PIECES = 10_000

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const OPERATOR = /:?[-?+]/y

/**
 * Substitutes the variables of a text as Compose does: `$NAME`, `${NAME}` and the operators `:-` `-` `:?` `?` `:+` `+`.
 * The operand of an operator is itself a template and is evaluated only if it is used. `$$` is a dollar sign, and so is
 * a `$` that does not start an expression. Returns every error in the text, not only the first. The braces in an
 * operand must balance; if they do not, the operand extends to the last `}` of its line. Works in one pass. Callers may
 * skip texts without `$`, because they do not change. (Compose Specification, Interpolation)
 */
export function substitute(text: string, lookup: Lookup): TemplateResult | { errors: TemplateError[] } {
  const run: Run = { text, lookup, variables: [], unset: [], errors: [], braces: undefined }
  const output = new Output()
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 ? text.length : newline
    expand(run, output, at, end, 0)
    if (newline >= 0) output.add('\n', newline, newline + 1, true)
    at = end + 1
  }
  if (run.errors.length > 0) return { errors: run.errors }
  return { value: output.value, pieces: output.pieces, variables: run.variables, unset: run.unset }
}

interface Run {
  readonly text: string
  readonly lookup: Lookup
  readonly variables: { name: string; origin: string; start: number; end: number; isSecret?: true }[]
  readonly unset: { name: string; start: number; end: number }[]
  readonly errors: TemplateError[]
  braces: Braces | undefined
}

/** The value so far, with the source positions of its parts. */
class Output {
  value = ''
  readonly pieces: { at: number; length: number; start: number; end: number; verbatim: boolean }[] = []

  add(piece: string, start: number, end: number, verbatim: boolean): void {
    if (piece === '') return
    const last = this.pieces.at(-1)
    if (verbatim && last?.verbatim && last.end === start) {
      last.length += piece.length
      last.end = end
    } else if (last && this.pieces.length >= MAX_PIECES) {
      last.length += piece.length
      last.end = end
      last.verbatim = false
    } else {
      this.pieces.push({ at: this.value.length, length: piece.length, start, end, verbatim })
    }
    this.value += piece
  }
}

/** Expands the text from `start` to `end`, which is a line or a part of a line, into the output. */
function expand(run: Run, output: Output, start: number, end: number, depth: number): void {
  const { text } = run
  let at = start
  while (at < end) {
    const dollar = text.indexOf('$', at)
    if (dollar < 0 || dollar >= end) {
      output.add(text.slice(at, end), at, end, true)
      return
    }
    output.add(text.slice(at, dollar), at, dollar, true)
    const next = dollar + 1 < end ? text[dollar + 1]! : ''
    const name = match(NAME, text, dollar + 1)
    if (next === '$') {
      output.add('$', dollar, dollar + 2, false)
      at = dollar + 2
    } else if (next === '{') {
      at = expandBraced(run, output, dollar, end, depth)
    } else if (next !== '' && name !== '') {
      at = dollar + 1 + name.length
      addVariable(run, output, name, dollar, at)
    } else {
      output.add('$', dollar, dollar + 1, true)
      at = dollar + 1
    }
    if (output.value.length > MAX_LENGTH) {
      run.errors.push({ kind: 'invalid', message: 'the value becomes larger than 16 MiB', start: dollar, end: at })
      return
    }
  }
}

/** Expands the expression whose `${` is at `dollar`. Returns the offset after the expression. */
function expandBraced(run: Run, output: Output, dollar: number, end: number, depth: number): number {
  const { text } = run
  const name = match(NAME, text, dollar + 2)
  const afterName = dollar + 2 + name.length
  if (name !== '' && text[afterName] === '}') {
    addVariable(run, output, name, dollar, afterName + 1)
    return afterName + 1
  }
  const operator = name === '' ? '' : match(OPERATOR, text, afterName)
  const word = afterName + operator.length
  const close = closingBrace(run, dollar + 1, word, end)
  if (operator === '' || close < 0) return reportInvalid(run, { name, dollar, afterName, close }, end)
  if (depth >= MAX_DEPTH) {
    const message = `variable expressions are nested more than ${MAX_DEPTH} levels deep`
    run.errors.push({ kind: 'invalid', name, message, start: dollar, end: word })
    return close + 1
  }

  const found = run.lookup(name)
  const set = found !== undefined && (operator.length === 1 || found.value !== '')
  const secret = set && found.isSecret && operator.at(-1) !== '+' && { isSecret: true as const }
  const use = (origin: string) => run.variables.push({ name, origin, start: dollar, end: close + 1, ...secret })
  switch (operator.at(-1)) {
    case '-':
      use(set ? found.origin : 'its default')
      if (set) output.add(found.value, dollar, close + 1, false)
      else expand(run, output, word, close, depth + 1)
      break
    case '+':
      use(found?.origin ?? 'nowhere')
      if (set) expand(run, output, word, close, depth + 1)
      break
    default:
      use(found?.origin ?? 'nowhere')
      if (set) output.add(found.value, dollar, close + 1, false)
      else requireVariable(run, { name, dollar, close }, word, depth)
  }
  return close + 1
}

/**
 * Returns the offset of the `}` that ends the expression, or -1. The `{` of the expression is at `open`, and its
 * operand starts at `word`.
 */
function closingBrace(run: Run, open: number, word: number, end: number): number {
  run.braces ??= matchBraces(run.text)
  const balanced = run.braces.closing(open)
  if (balanced >= 0 && balanced < end) return balanced
  const last = run.braces.lastBefore(end)
  return last >= word ? last : -1
}

function addVariable(run: Run, output: Output, name: string, start: number, end: number): void {
  const found = run.lookup(name)
  run.variables.push({
    name,
    origin: found?.origin ?? 'nowhere',
    start,
    end,
    ...(found?.isSecret && { isSecret: true }),
  })
  if (found) output.add(found.value, start, end, false)
  else run.unset.push({ name, start, end })
}

/**
 * A `${…}` expression: the name in it, the offset of its `$`, and the offset of its closing brace, which is -1 if the
 * brace is missing.
 */
interface Expression {
  readonly name: string
  readonly dollar: number
  readonly close: number
}

/** Adds an error for a required variable that is not set. The message starts at `word`. */
function requireVariable(run: Run, { name, dollar, close }: Expression, word: number, depth: number): void {
  const message = new Output()
  const before = run.errors.length
  expand(run, message, word, close, depth + 1)
  if (run.errors.length > before) return
  run.errors.push({ kind: 'required', name, message: message.value, start: dollar, end: close + 1 })
}

/** Adds an error for text after `${` that is not a valid expression. Returns the offset to continue from. */
function reportInvalid(
  run: Run,
  { name, dollar, afterName, close }: Expression & { readonly afterName: number },
  end: number,
): number {
  const { text } = run
  const stop = close >= 0 ? close + 1 : Math.min(end, afterName + match(REST, text, afterName).length)
  const shown = text.slice(dollar, Math.min(stop, dollar + 60)) + (stop > dollar + 60 ? '…' : '')
  const { message, hint } = describeInvalid(shown, name, text[afterName] ?? '', text[afterName + 1] ?? '', close >= 0)
  run.errors.push({ kind: 'invalid', ...(name && { name }), message, hint, start: dollar, end: stop })
  // If there is no closing brace, later expressions in the line have none either, so one error is enough.
  return close >= 0 ? stop : end
}

const REST = /[^\s${}'"]*/y
const DOUBLE = 'write `$$` where a dollar sign is meant'

function describeInvalid(
  shown: string,
  name: string,
  next: string,
  second: string,
  closed: boolean,
): { message: string; hint: string } {
  if (!closed) return { message: `\`${shown}\` has no \`}\` on its line`, hint: `close it with \`}\`, or ${DOUBLE}` }
  if (name === '' && next === '}') return { message: `\`${shown}\` has no variable name`, hint: DOUBLE }
  if (name === '') {
    return { message: `\`${shown}\` is not a valid variable: names begin with a letter or \`_\``, hint: DOUBLE }
  }
  if (next === ':' && second === '=') {
    return {
      message: `\`${shown}\` sets a variable, which Compose does not support`,
      hint: `use \`:-\` for a default, or ${DOUBLE}`,
    }
  }
  const hint = `after \`${name}\` comes \`}\` or one of \`:-\` \`-\` \`:?\` \`?\` \`:+\` \`+\`; ${DOUBLE}`
  return { message: `\`${shown}\` is not a valid variable expression`, hint }
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}
