import type { Reporter } from '../diagnostics/reporter.ts'
import { looksSecretText } from '../values/secrets/secret-looks.ts'
import { looksSecretName } from '../values/secrets/secret-names.ts'
import { isTokenVariable } from '../values/secrets/token-variables.ts'
import {
  commentInValue,
  droppedText,
  emptyName,
  invalidExpression,
  invalidName,
  requiredVariable,
  tooLarge,
  unsetVariable,
  unterminatedQuote,
} from './dotenv-diagnostics.ts'
import { reportToken } from './interpolate.ts'
import type { SourceFile, Span } from './source.ts'
import { substitute } from './template.ts'

export interface DotenvEntry {
  readonly name: string
  readonly value: string
  /** Position of the value without its quotes. If the value is empty or inherited, the position of the name. */
  readonly span: Span
  /** True for a name without `=`, whose value comes from the lookup. */
  readonly inherited: boolean
  /** The variables that the value uses. */
  readonly variables?: readonly string[]
}

/**
 * Reads the assignments of a `.env`, `env_file` or `label_file`, in order; a name may occur more than once. (Compose
 * Specification, env_file, format)
 * - A bare value extends to the end of the line or to ` #`. Its variables are substituted.
 * - A value in double quotes may have escapes, variables and several lines.
 * - A value in single quotes is verbatim.
 * Variables in values are looked up with `lookup`, then among the preceding names of this file, then with `earlier` in
 * the preceding files. Omits a name without a value if `lookup` does not have the name. Reports each error with its
 * position and continues with the next line. With `labels`, messages refer to labels.
 */
export function parseDotenv(
  file: SourceFile,
  lookup: (name: string) => string | undefined,
  reporter: Reporter,
  options: DotenvOptions = {},
): DotenvEntry[] {
  return new DotenvReader(file, lookup, reporter, options).read()
}

export interface DotenvOptions {
  /** True if messages refer to labels instead of variables. */
  readonly labels?: boolean
  /** Looks up values of files that were read before. */
  readonly earlier?: (name: string) => string | undefined
}

/**
 * Maximum number of characters in all values of a file, because lines that repeatedly refer to the line before them
 * grow exponentially.
 */
const MAX_SIZE = 1 << 26

/** Matches whitespace that does not end a line. */
const BLANKS = /[\t\v\f\r \u0085\u00a0]*/y
const BLANKS_AND_LINES = /[\s\u0085]*/y
const EXPORT = /export[\t\f\r ]+/y
const NAME = /[\p{L}\p{N}_.[\]\t\v\f\r \u0085\u00a0-]*/uy
const BLANK_INSIDE = /[\t\v\f\r \u0085\u00a0]/
const LINE_REST = /[^\n]*/y
const ESCAPE = /\\(?:["abfnrtv$\\]|0[0-7]{3})/y
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** Maximum number of characters of an unreadable value to check for a secret. Secrets are shorter than that. */
const MOST_LOOKED_AT = 1_000

/**
 * The text of a value before its variables are substituted. `place` returns the source position of a part of the text.
 */
interface RawValue {
  readonly text: string
  readonly place: (start: number, end: number) => Span
}

class DotenvReader {
  readonly #file: SourceFile
  readonly #text: string
  readonly #lookup: (name: string) => string | undefined
  readonly #earlier: DotenvOptions['earlier']
  readonly #reporter: Reporter
  readonly #what: 'label' | 'variable'
  readonly #entries: DotenvEntry[] = []
  readonly #read = new Map<string, string>()
  /** Names whose values could not be read. They already have a diagnostic, so they are not reported as not set. */
  readonly #unread = new Set<string>()
  #at = 0
  /** Number of characters in all values so far. */
  #size = 0

  constructor(
    file: SourceFile,
    lookup: (name: string) => string | undefined,
    reporter: Reporter,
    options: DotenvOptions,
  ) {
    this.#file = file
    this.#text = file.text
    this.#lookup = lookup
    this.#reporter = reporter
    this.#earlier = options.earlier
    this.#what = options.labels ? 'label' : 'variable'
  }

  read(): DotenvEntry[] {
    if (this.#text.startsWith('\ufeff')) this.#at = 1
    let quoteEnd = -1
    for (;;) {
      this.#take(BLANKS_AND_LINES)
      if (this.#at >= this.#text.length) return this.#entries
      if (this.#text[this.#at] === '#') this.#take(LINE_REST)
      else quoteEnd = this.#statement(quoteEnd >= 0 && !this.#text.slice(quoteEnd, this.#at).includes('\n'))
    }
  }

  /**
   * Reads one assignment. Returns the offset after the closing quote of its value, or -1 if the value is not quoted.
   */
  #statement(afterQuote: boolean): number {
    this.#take(EXPORT)
    const start = this.#at
    const written = this.#take(NAME)
    const name = written.replace(/[\s\u0085]+$/, '')
    const next = this.#text[this.#at]
    const span = this.#span(start, start + name.length)
    if (next !== undefined && next !== '=' && next !== ':' && next !== '\n') {
      const character = String.fromCodePoint(this.#text.codePointAt(this.#at)!)
      const place = this.#span(this.#at, this.#at + character.length)
      this.#reporter.report(invalidName, place, { what: this.#what, character, afterQuote })
      this.#skipLine(start)
      return -1
    }
    const assigns = next === '=' || next === ':'
    const blank = name.search(BLANK_INSIDE)
    if (blank >= 0) {
      this.#reporter.report(invalidName, this.#span(start + blank, start + blank + 1), {
        what: this.#what,
        character: ' ',
        afterQuote,
      })
      this.#skipLine(start)
      return -1
    }
    if (!assigns) {
      if (afterQuote) this.#reporter.report(droppedText, span, {})
      reportToken(name, span, this.#reporter)
      const value = this.#lookup(name)
      if (value !== undefined) this.#add({ name, value, span, inherited: true })
      return -1
    }
    if (name === '') this.#reporter.report(emptyName, this.#span(this.#at, this.#at + 1), { what: this.#what })
    this.#at++
    return this.#assignment(name, span)
  }

  #assignment(name: string, nameSpan: Span): number {
    const blanks = this.#take(BLANKS)
    const quote = this.#text[this.#at]
    if (quote !== '"' && quote !== "'") {
      this.#define(name, this.#bareValue(blanks !== ''), nameSpan)
      return -1
    }
    const open = this.#at
    const raw = this.#quotedValue(quote)
    if (!raw) {
      // The end of the value is unknown, so all text that follows may belong to it, such as the rest of a private key.
      this.#leaveOut(name, open, this.#text.length)
      return -1
    }
    if (quote === "'") {
      if (name !== '') this.#add({ name, value: raw.text, span: this.#valueSpan(raw, nameSpan), inherited: false })
      return this.#at
    }
    const isClosed = /[\s#]|$/y
    isClosed.lastIndex = this.#at
    const hint = isClosed.test(this.#text) ? undefined : 'a `"` ends the value; inside it write `\\"`'
    if (this.#define(name, raw, nameSpan, hint)) return this.#at
    // The rest of the line is probably the rest of the expression.
    this.#take(LINE_REST)
    return -1
  }

  /**
   * Skips a line that is not a valid assignment. If the line has a name and a value, they are treated as an unreadable
   * assignment.
   */
  #skipLine(start: number): void {
    this.#take(LINE_REST)
    const line = this.#text.slice(start, this.#at)
    const assigned = line.search(/[=:]/)
    if (assigned >= 0) this.#leaveOut(line.slice(0, assigned), start + assigned + 1, this.#at)
  }

  /** Records that a value could not be read. Hides it in excerpts if its name or its text looks like a secret. */
  #leaveOut(name: string, start: number, end: number): void {
    this.#unread.add(name.trim())
    if (looksSecretName(name) || looksSecretText(this.#text.slice(start, start + MOST_LOOKED_AT)))
      this.#reporter.hide(this.#span(start, end))
  }

  #bareValue(blankBefore: boolean): RawValue {
    const start = this.#at
    const line = this.#take(LINE_REST)
    const comment = line.indexOf(' #')
    const text = (comment < 0 ? line : line.slice(0, comment)).replace(/[\s\u0085]+$/, '')
    if (blankBefore && text.startsWith('#'))
      this.#reporter.report(commentInValue, this.#span(start, start + text.length), {})
    return { text, place: (from, to) => this.#span(start + from, start + to) }
  }

  /**
   * Reads up to the closing quote. In double quotes, replaces escapes; `\$` becomes `$$`, which the substitution turns
   * into a dollar sign.
   */
  #quotedValue(quote: '"' | "'"): RawValue | undefined {
    const open = this.#at
    const text = this.#text
    const offsets: number[] = []
    let value = ''
    const add = (piece: string, start: number) => {
      for (let index = 0; index < piece.length; index++) offsets.push(start)
      value += piece
    }
    for (let at = open + 1; at < text.length; at++) {
      const char = text[at]!
      if (char === quote) {
        this.#at = at + 1
        offsets.push(at)
        return {
          text: value,
          place: (from, to) => this.#span(offsets[from]!, to > from ? offsets[to]! : offsets[from]!),
        }
      }
      if (char !== '\\') {
        add(char, at)
        continue
      }
      const found = this.#escape(at, quote)
      add(found.value, at)
      at += found.length - 1
    }
    const line = this.#take(LINE_REST)
    this.#reporter.report(unterminatedQuote, this.#span(open, open + line.trimEnd().length), { quote })
    return undefined
  }

  /** Returns the value of the escape sequence whose backslash is at an offset. */
  #escape(at: number, quote: '"' | "'"): { value: string; length: number } {
    const next = this.#text[at + 1] ?? ''
    if (quote === "'")
      return next === "'" ? { value: next, length: 2 } : { value: `\\${next}`, length: 1 + next.length }
    ESCAPE.lastIndex = at
    const sequence = ESCAPE.exec(this.#text)?.[0]
    if (sequence === undefined) return { value: `\\${next}`, length: 1 + next.length }
    if (sequence.length > 2) {
      const code = Number.parseInt(sequence.slice(2), 8)
      return { value: code < 256 ? String.fromCharCode(code) : sequence, length: sequence.length }
    }
    return { value: next === '$' ? '$$' : (ESCAPES[next] ?? next), length: 2 }
  }

  /**
   * Substitutes the variables of a value and adds the entry. Returns false if the substitution fails. `hint` replaces
   * the usual hint of an invalid expression, and is about the text after the value.
   */
  #define(name: string, raw: RawValue, nameSpan: Span, hint?: string): boolean {
    if (name === '') return true
    const span = this.#valueSpan(raw, nameSpan)
    if (!raw.text.includes('$')) {
      this.#add({ name, value: raw.text, span, inherited: false })
      return true
    }
    const tokens = new Set<string>()
    const result = substitute(raw.text, variable => {
      if (isTokenVariable(variable)) tokens.add(variable)
      const value = this.#lookup(variable) ?? this.#read.get(variable) ?? this.#earlier?.(variable)
      return value === undefined ? undefined : { value, origin: '' }
    })
    if (tokens.size > 0) {
      this.#leaveOut(name, span.start, span.end)
      for (const token of tokens) {
        const start = raw.text.indexOf(token)
        reportToken(token, raw.place(start, start + token.length), this.#reporter)
      }
      return false
    }
    if ('errors' in result) {
      this.#leaveOut(name, span.start, span.end)
      for (const { kind, name: variable = '', message, hint: advice, start, end } of result.errors) {
        const place = raw.place(start, end)
        if (kind === 'required') this.#reporter.report(requiredVariable, place, { name: variable, message })
        else this.#reporter.report(invalidExpression, place, { message, hint: hint ?? advice })
      }
      return false
    }
    for (const { name: variable, start, end } of result.unset) {
      if (!this.#unread.has(variable)) this.#reporter.report(unsetVariable, raw.place(start, end), { name: variable })
    }
    const variables = result.variables.map(variable => variable.name)
    this.#add({ name, value: result.value, span, inherited: false, variables })
    return true
  }

  #add(entry: DotenvEntry): void {
    this.#size += entry.value.length
    if (this.#size > MAX_SIZE) {
      this.#reporter.report(tooLarge, entry.span, {})
      this.#at = this.#text.length
      return
    }
    this.#entries.push(entry)
    this.#read.set(entry.name, entry.value)
  }

  #valueSpan(raw: RawValue, nameSpan: Span): Span {
    return raw.text === '' ? nameSpan : raw.place(0, raw.text.length)
  }

  #span(start: number, end: number): Span {
    return { file: this.#file, start, end }
  }

  /** Consumes the text that matches the pattern at the current offset, possibly nothing. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const taken = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += taken.length
    return taken
  }
}

/**
 * Reads an `env_file` with `format: raw`. Each line is `NAME=value`, and the value is verbatim up to the end of the
 * line. Omits a name without `=` if `lookup` does not have it. Skips blank lines and lines that begin with `#`.
 */
export function parseRawEnv(
  file: SourceFile,
  lookup: (name: string) => string | undefined,
  reporter: Reporter,
): DotenvEntry[] {
  const entries: DotenvEntry[] = []
  for (const { 0: line, index } of file.text.matchAll(/[^\n]+/g)) {
    const text = line.replace(/\r$/, '').replace(/^[\ufeff\s\u0085]+/, '')
    if (text === '' || text.startsWith('#')) continue
    const start = index + line.indexOf(text)
    const equals = text.indexOf('=')
    const name = equals < 0 ? text : text.slice(0, equals)
    const blank = name.search(/[\s\u0085]/)
    const span = (from: number, to: number): Span => ({ file, start: start + from, end: start + to })
    if (name === '') {
      reporter.report(emptyName, span(0, 1), { what: 'variable' })
    } else if (blank >= 0) {
      reporter.report(invalidName, span(blank, blank + 1), { what: 'variable', character: ' ', afterQuote: false })
    } else if (equals >= 0) {
      const value = text.slice(equals + 1)
      entries.push({
        name,
        value,
        span: value === '' ? span(0, name.length) : span(equals + 1, text.length),
        inherited: false,
      })
    } else {
      const value = lookup(name)
      if (value !== undefined) entries.push({ name, value, span: span(0, name.length), inherited: true })
    }
  }
  return entries
}
