import { printable } from '../printable.ts'

/** The placeholder for a secret. */
const MASK = '***'
/** Shorter texts would be found everywhere: half of the output would be asterisks. */
const SHORTEST = 4
const HASHES = 1 << 16
/** Most characters before and after a form that a condition may read. */
export const CONDITION_SIGHT = 512
/** Shorter pieces of base64 are too often something else. */
const SHORTEST_ENCODED = 8

/**
 * Takes text as it comes and gives it back with secrets masked, a little later where one may just
 * have begun.
 */
export interface MaskStream {
  /** The part of the text so far that is final; all of it after the end of a line. */
  push(text: string): string
  /** The rest. */
  end(): string
}

/**
 * Replaces secrets by `***`, also where they are in base64 (alone or within a longer text, on one
 * line or several), percent-encoded or inside JSON, in YAML's single quotes, or written as
 * `printable` writes them. A secret of several lines is masked line by line. Values and lines of
 * fewer than four characters are left alone. A form with a condition is masked only where that holds.
 */
export class Masker {
  /** The forms of all secrets by their first four characters. */
  readonly #forms = new Map<string, Forms>()
  readonly #conditions = new Map<string, MaskCondition>()
  /**
   * Set at the hash of four characters if a form may begin with them: nearly every offset is skipped after this check
   * alone.
   */
  readonly #begins = new Uint8Array(HASHES)
  readonly #longest: number

  /** Characters around a form that its condition may read. */
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

  /** A whole text. */
  mask(text: string): string {
    return this.#replace(text, { from: 0, certain: text.length, covered: 0 }).done
  }

  /** The stretches of a text that are secret, in order; they may overlap. */
  *find(text: string): Generator<{ readonly start: number; readonly end: number }> {
    if (this.#longest === 0) return
    for (let at = 0; at <= text.length - SHORTEST; at++) {
      const form = this.#formAt(text, at)
      if (form !== undefined) yield { start: at, end: at + form.length }
    }
  }

  stream(): MaskStream {
    let held = ''
    /** Offset in `held` up to which the text has already been returned: that part is kept for the conditions. */
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
        // No form has a line end in it, so nothing that began before one is still to come.
        const open = all.length - Math.max(this.#longest - 1, 0) - this.#sight
        return take(all, Math.max(all.lastIndexOf('\n') + 1, open, from))
      },
      end: () => take(held, held.length),
    }
  }

  /**
   * The text up to `certain`: what begins from there on may not be all there yet. Begins at `from`; the
   * characters up to `covered` belong to a secret that was masked before. `until`: where the last secret
   * that begins before `certain` ends.
   */
  #replace(text: string, { from, certain, covered }: Stretch): { done: string; until: number } {
    let done = ''
    let until = Math.max(covered, from)
    const last = this.#longest === 0 ? -1 : Math.min(certain - 1, text.length - SHORTEST)
    // Checks every offset, also within a secret, so that overlapping secrets are all found.
    for (let at = from; at <= last; at++) {
      const form = this.#formAt(text, at)
      if (form === undefined) continue
      if (at >= until) done += `${text.slice(until, at)}${MASK}`
      until = Math.max(until, at + form.length)
    }
    return { done: done + text.slice(until, Math.max(until, certain)), until }
  }

  /** The longest form that stands at an offset. */
  #formAt(text: string, at: number): string | undefined {
    if (this.#begins[hashAt(text, at)] === 0) return undefined
    const forms = this.#forms.get(text.slice(at, at + SHORTEST))
    // Thousands of secrets may begin alike.
    for (const length of forms?.lengths ?? []) {
      const one = text.slice(at, at + length)
      if (forms!.all.has(one) && (this.#conditions.get(one)?.(text, at, at + length) ?? true)) return one
    }
    return undefined
  }
}

interface Forms {
  readonly all: Set<string>
  /** Lengths of the forms, the greatest first, each once. */
  readonly lengths: number[]
}

/** A stretch of a text that is masked: from `from` to `certain`. */
interface Stretch {
  readonly from: number
  readonly certain: number
  readonly covered: number
}

/**
 * Tells if a stretch of a text, which is a form of a secret, is to be masked. Looks no further than `CONDITION_SIGHT`.
 */
export type MaskCondition = (text: string, start: number, end: number) => boolean

/** Options of a masker. */
export interface MaskerOptions {
  /**
   * Secrets that are masked as they are written, not encoded; without a condition, where no letter or digit stands
   * around them.
   */
  readonly words?: ReadonlySet<string>
  /** The condition for a form of a secret that can be read; none for one that is masked everywhere. */
  readonly conditionOf?: (form: string) => MaskCondition | undefined
}

/**
 * True if no letter or digit stands around a stretch. The letter of an option may stand before it:
 * `-pgeheim`.
 */
function isApart(text: string, start: number, end: number): boolean {
  const isPart = (at: number) => at >= 0 && /[A-Za-z0-9]/.test(text[at] ?? '')
  return !isPart(end) && (!isPart(start - 1) || text[start - 2] === '-')
}

/** The lines of a secret that are long enough to be looked for. */
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

/** The forms of a secret in base64. */
const encodingsOf = (secret: string): readonly string[] =>
  secret.length < SHORTEST ? [] : [secret, `${secret}\n`, ...plainLines(secret)].flatMap(encodings)

/** Returns the forms of a line in single quotes of a shell, and those inside JSON. */
function shellForms(line: string): readonly string[] {
  const quoted = line.replaceAll("'", `'\\''`)
  return quoted === line ? [] : [quoted, JSON.stringify(quoted).slice(1, -1)]
}

/**
 * Returns the forms of a line in names of images, projects and objects, which are derived from paths and similar texts.
 */
const nameForms = (line: string): readonly string[] => namesMadeOf(line).filter(form => form.length >= SHORTEST_ENCODED)

/** The names that images, projects and objects get from a text. */
export function namesMadeOf(text: string): readonly string[] {
  const lower = text.toLowerCase()
  return [lower, lower.replaceAll(/[^a-z0-9]+/g, '-'), lower.replaceAll(/[^a-z0-9_-]+/g, '')]
}

/**
 * Returns the base64 forms of a text: of the text alone, in lines of 76 and 64 characters, and the characters that are
 * certain when other text precedes and follows.
 */
function encodings(text: string): string[] {
  const whole = Buffer.from(text).toString('base64')
  const bytes = Buffer.byteLength(text)
  const within = [0, 1, 2].map(before => {
    const shifted = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]).toString('base64')
    // A character is 6 bits: the first that are only ours, and the last.
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

/** Half a character has no percent-encoding. */
const wellFormed = (text: string) => Buffer.from(text).toString('utf8')
