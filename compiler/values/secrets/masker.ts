import { printable } from '../printable.ts'

/** Placeholder for a secret. */
const MASK = '***'
/**
 * Minimum length of a masked secret. Shorter texts occur everywhere, and masking them would turn half of the output
 * into asterisks.
 */
const SHORTEST = 4
const HASHES = 1 << 16
/** Maximum number of characters that a `MaskCondition` reads on each side of a possible secret. */
export const CONDITION_SIGHT = 512
/** Minimum length of a base64 form. Shorter forms match too much other text. */
const SHORTEST_ENCODED = 8

/** A stream of text in which secrets are masked. Holds back the end of the text if a secret may start in it. */
export interface MaskStream {
  /** Adds text, and returns the part that is final: everything up to the last line end, and possibly more. */
  push(text: string): string
  /** Returns the rest of the text. */
  end(): string
}

/**
 * Replaces secrets with `***`, including secrets in base64 (alone or within a longer text, on one line or several),
 * percent-encoded, inside JSON, in YAML's single quotes, or escaped by `printable`. A secret of several lines is masked
 * line by line. Ignores values and lines of fewer than four characters. A form with a condition is masked only if the
 * condition holds.
 */
export class Masker {
  /** Forms of all secrets (the texts in which a secret can occur, plain or encoded), by their first four characters. */
  readonly #forms = new Map<string, Forms>()
  readonly #conditions = new Map<string, MaskCondition>()
  /**
   * Contains 1 at the hash of the first four characters of each form. Looking up the hash rules out a secret at nearly
   * every offset of a text.
   */
  readonly #begins = new Uint8Array(HASHES)
  readonly #longest: number

  /** Number of characters that a condition may read on each side of a form; 0 if no form has a condition. */
  readonly #sight: number

  constructor(secrets: readonly string[], { words = new Set(), conditionOf }: MaskerOptions = {}) {
    const others = secrets.filter(secret => !words.has(secret))
    const all = new Set(others.flatMap(encodingsOf))
    const enter = (form: string, usual?: MaskCondition) => {
      if (form.length < SHORTEST || all.has(form)) return
      const condition = conditionOf?.(form) ?? usual
      if (condition) this.#conditions.set(form, condition)
      all.add(form)
    }
    for (const form of others.flatMap(writtenForms)) enter(form)
    for (const word of words) enter(word, isApart)
    const forms = [...all].sort((a, b) => b.length - a.length)
    this.#sight = this.#conditions.size > 0 ? CONDITION_SIGHT : 0
    this.#longest = forms[0]?.length ?? 0
    for (const form of forms) {
      const begin = form.slice(0, SHORTEST)
      const { all, lengths } = this.#forms.get(begin) ?? { all: new Set<string>(), lengths: [] }
      this.#forms.set(begin, { all: all.add(form), lengths })
      if (lengths.at(-1) !== form.length) lengths.push(form.length)
      this.#begins[hashAt(begin, 0)] = 1
    }
  }

  /** Masks a complete text. */
  mask(text: string): string {
    return this.#replace(text, { from: 0, certain: text.length, covered: 0 }).done
  }

  /** Yields the ranges of a text that are secret, in order; they may overlap. */
  *find(text: string): Generator<{ readonly start: number; readonly end: number }> {
    if (this.#longest === 0) return
    for (let at = 0; at <= text.length - SHORTEST; at++) {
      const form = this.#formAt(text, at)
      if (form !== undefined) yield { start: at, end: at + form.length }
    }
  }

  stream(): MaskStream {
    let held = ''
    /**
     * Offset in `held` up to which the text has already been returned. The returned part is kept because conditions
     * read it.
     */
    let from = 0
    let until = 0
    const take = (text: string, certain: number) => {
      const taken = this.#replace(text, { from, certain, covered: until })
      const kept = Math.max(certain - this.#sight, 0)
      held = text.slice(kept)
      from = certain - kept
      until = Math.max(taken.until, certain) - kept
      return taken.done
    }
    return {
      push: text => {
        const all = held + text
        // No form contains a line end, so every form that started before a line end is complete.
        const open = all.length - Math.max(this.#longest - 1, 0) - this.#sight
        return take(all, Math.max(all.lastIndexOf('\n') + 1, open, from))
      },
      end: () => take(held, held.length),
    }
  }

  /**
   * Masks the text from `from` to `certain`. Ignores forms that start later, because they may still be incomplete. The
   * characters up to `covered` belong to a secret that is already masked. Also returns `until`, the end of the last
   * secret that starts before `certain`.
   */
  #replace(text: string, { from, certain, covered }: Stretch): { done: string; until: number } {
    let done = ''
    let until = Math.max(covered, from)
    const last = this.#longest === 0 ? -1 : Math.min(certain - 1, text.length - SHORTEST)
    // Checks every offset, including those within a secret, to find overlapping secrets.
    for (let at = from; at <= last; at++) {
      const form = this.#formAt(text, at)
      if (form === undefined) continue
      if (at >= until) done += `${text.slice(until, at)}${MASK}`
      until = Math.max(until, at + form.length)
    }
    return { done: done + text.slice(until, Math.max(until, certain)), until }
  }

  /** Returns the longest form at an offset. */
  #formAt(text: string, at: number): string | undefined {
    if (this.#begins[hashAt(text, at)] === 0) return undefined
    const forms = this.#forms.get(text.slice(at, at + SHORTEST))
    // Thousands of secrets may start with the same characters.
    for (const length of forms?.lengths ?? []) {
      const one = text.slice(at, at + length)
      if (forms!.all.has(one) && (this.#conditions.get(one)?.(text, at, at + length) ?? true)) return one
    }
    return undefined
  }
}

interface Forms {
  readonly all: Set<string>
  /** Distinct lengths of the forms, in descending order. */
  readonly lengths: number[]
}

/**
 * Range of a text to mask, from `from` to `certain`. Forms that start at or after `certain` may still be incomplete.
 * The characters before `covered` belong to a secret that is already masked.
 */
interface Stretch {
  readonly from: number
  readonly certain: number
  readonly covered: number
}

/**
 * A condition that returns true if a form of a secret at this position should be masked. Reads at most
 * `CONDITION_SIGHT` characters on each side of the form.
 */
export type MaskCondition = (text: string, start: number, end: number) => boolean

/** Options for secrets that a masker masks only in some forms or places. */
export interface MaskerOptions {
  /**
   * Secrets that are masked only as written, not encoded. If they have no condition, they are masked only between
   * characters other than letters and digits.
   */
  readonly words?: ReadonlySet<string>
  /** Returns the condition for a readable form of a secret; undefined for a form that is masked everywhere. */
  readonly conditionOf?: (form: string) => MaskCondition | undefined
}

/**
 * Returns true if there is no letter or digit directly before or after a range. Ignores the letter of an option before
 * the range: `-pgeheim`.
 */
function isApart(text: string, start: number, end: number): boolean {
  const isPart = (at: number) => at >= 0 && /[A-Za-z0-9]/.test(text[at] ?? '')
  const followsOption = text[start - 2] === '-' && !isPart(start - 3)
  return !isPart(end) && (!isPart(start - 1) || followsOption)
}

/** Returns the lines of a secret that are long enough to search for. */
function plainLines(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n|\r/)
  return [...lines, ...lines.map(line => line.trim())].filter(line => line.length >= SHORTEST)
}

/** Returns the readable forms of a secret: verbatim, quoted, escaped, and as part of a name. */
const writtenForms = (secret: string): readonly string[] =>
  plainLines(secret).flatMap(line => [
    line,
    encodeURIComponent(wellFormed(line)),
    JSON.stringify(line).slice(1, -1),
    JSON.stringify(JSON.stringify(line).slice(1, -1)).slice(1, -1),
    line.replaceAll("'", "''"),
    ...shellForms(line),
    ...nameForms(line),
    line.replaceAll('%', '%25'),
    printable(line),
  ])

/** Returns the base64 forms of a secret. */
const encodingsOf = (secret: string): readonly string[] =>
  secret.length < SHORTEST ? [] : [secret, `${secret}\n`, ...plainLines(secret)].flatMap(encodings)

/** Returns the forms of a line in a shell's single quotes, also inside JSON. */
function shellForms(line: string): readonly string[] {
  const quoted = line.replaceAll("'", `'\\''`)
  return quoted === line ? [] : [quoted, JSON.stringify(quoted).slice(1, -1)]
}

/**
 * Returns the forms that a line of a secret takes in names of images, projects and objects, which are often derived
 * from paths and similar texts. Omits forms that are too short to search for.
 */
const nameForms = (line: string): readonly string[] => namesMadeOf(line).filter(form => form.length >= SHORTEST_ENCODED)

/** Returns the forms that a text takes in the names of images, projects and objects that are derived from it. */
export function namesMadeOf(text: string): readonly string[] {
  const lower = text.toLowerCase()
  return [lower, lower.replaceAll(/[^a-z0-9]+/g, '-'), lower.replaceAll(/[^a-z0-9_-]+/g, '')]
}

/**
 * Returns the base64 forms of a text: of the text alone, of its lines of 76 and 64 characters, and of the text within a
 * longer one. The forms within a longer text omit the characters that also depend on the surrounding text.
 */
function encodings(text: string): string[] {
  const whole = Buffer.from(text).toString('base64')
  const bytes = Buffer.byteLength(text)
  const within = [0, 1, 2].map(before => {
    const shifted = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]).toString('base64')
    // A base64 character is 6 bits: skip characters that also depend on bits of the text before or after.
    return shifted.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes) * 8) / 6))
  })
  const lines = [76, 64].flatMap(width => whole.match(new RegExp(`.{1,${width}}`, 'g')) ?? [])
  const forms = [whole, whole.replace(/=+$/, ''), ...lines, ...within]
  return [...forms, ...forms.map(form => form.replaceAll('+', '-').replaceAll('/', '_'))].filter(
    form => form.length >= SHORTEST_ENCODED,
  )
}

function hashAt(text: string, at: number): number {
  const first = text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 3)
  return (first ^ (text.charCodeAt(at + 2) << 6) ^ (text.charCodeAt(at + 3) << 9)) & (HASHES - 1)
}

/** Replaces lone surrogates, which cannot be percent-encoded. */
const wellFormed = (text: string) => Buffer.from(text).toString('utf8')
