import { printable } from './printable.ts'

/** The placeholder for a secret. */
const MASK = '***'
/** Shorter texts would be found everywhere: half of the output would be asterisks. */
const SHORTEST = 4
const HASHES = 1 << 16
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
 * fewer than four characters are left alone. What is among `words` is masked only where it is a
 * word of its own: by default, where no letter or digit stands around it.
 */
export class Masker {
  /** The forms of all secrets by their first four characters. */
  readonly #forms = new Map<string, Forms>()
  /** Forms that are masked only where they stand as a word of their own. */
  readonly #words: ReadonlySet<string>
  /**
   * Where something is at the hash of four characters, a form may begin with them: nearly every
   * place is passed by without more.
   */
  readonly #begins = new Uint8Array(HASHES)
  readonly #longest: number

  readonly #isWord: IsWord

  constructor(secrets: readonly string[], words: readonly string[] = [], isWord: IsWord = isApart) {
    this.#isWord = isWord
    const all = new Set(secrets.flatMap(formsOf))
    this.#words = new Set(words.filter(word => word.length >= SHORTEST && !all.has(word)))
    const forms = [...all, ...this.#words].sort((a, b) => b.length - a.length)
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
    return this.#replace(text, text.length, 0).done
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
    let covered = 0
    const take = (text: string, certain: number) => {
      const { done, until } = this.#replace(text, certain, covered)
      held = text.slice(certain)
      covered = Math.max(until - certain, 0)
      return done
    }
    return {
      push: text => {
        const all = held + text
        // No form has a line end in it, so nothing that began before one is still to come.
        return take(all, Math.max(all.lastIndexOf('\n') + 1, all.length - Math.max(this.#longest - 1, 0)))
      },
      end: () => take(held, held.length),
    }
  }

  /**
   * The text up to `certain`: what begins from there on may not be all there yet. Its first
   * `covered` characters belong to a secret that was masked before. `until`: where the last secret
   * that begins before `certain` ends.
   */
  #replace(text: string, certain: number, covered: number): { done: string; until: number } {
    let done = ''
    let until = covered
    const last = this.#longest === 0 ? -1 : Math.min(certain - 1, text.length - SHORTEST)
    // Looks at every place, also within a secret, so that secrets which overlap are all found.
    for (let at = 0; at <= last; at++) {
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
      if (forms!.all.has(one) && (!this.#words.has(one) || this.#isWord(text, at, at + length))) return one
    }
    return undefined
  }
}

interface Forms {
  readonly all: Set<string>
  /** Of the forms, the greatest first, each once. */
  readonly lengths: number[]
}

/** Tells if a stretch of a text, which is among the words of a masker, is to be masked. */
type IsWord = (text: string, start: number, end: number) => boolean

/**
 * True if no letter or digit stands around a stretch. The letter of an option may stand before it:
 * `-pgeheim`.
 */
function isApart(text: string, start: number, end: number): boolean {
  const isPart = (at: number) => at >= 0 && /[A-Za-z0-9]/.test(text[at] ?? '')
  return !isPart(end) && (!isPart(start - 1) || text[start - 2] === '-')
}

/** The end of a text before a value: `=`, `:` (`admin:geheim`), a quote, a blank, a bracket, or the letter of an option. */
const BEFORE = /(?:^|[\s=:,;|"'`\\([{<>]|(?:^|[\s"'`])-[A-Za-z])$/
/** The beginning of a text after a value; a dot or a colon counts if it ends a word. */
const AFTER = /^(?:$|[\s=,;|&"'`\\)\]}<>]|[.:!?](?:$|[\s"'`\\)]))/

/**
 * True if a stretch is all of a value, or the password in an address (`postgres://app:geheim@db`),
 * and no part of a name, a path or a host.
 */
export function isWholeValue(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 8), start)
  const after = text.slice(end, end + 8)
  // A login has a token in the place of the user; after a tag stands a digest.
  if (after.startsWith('@') && /:$|https?:\/\/$/.test(before)) return !after.startsWith('@sha256:')
  return (start === 0 || BEFORE.test(before)) && AFTER.test(after)
}

function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n|\r/)
  const plain = [...lines, ...lines.map(line => line.trim())].filter(line => line.length >= SHORTEST)
  const written = plain.flatMap(line => [
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
  const encoded = [secret, `${secret}\n`, ...plain].flatMap(encodings)
  return [...written, ...(secret.length >= SHORTEST ? encoded : [])]
}

/** Within a shell's single quotes, and that inside JSON. */
function shellForms(line: string): readonly string[] {
  const quoted = line.replaceAll("'", `'\\''`)
  return quoted === line ? [] : [quoted, JSON.stringify(quoted).slice(1, -1)]
}

/** As names of images, projects and objects have it, which are made of paths and the like. */
function nameForms(line: string): readonly string[] {
  const lower = line.toLowerCase()
  const forms = [lower, lower.replaceAll(/[^a-z0-9]+/g, '-'), lower.replaceAll(/[^a-z0-9_-]+/g, '')]
  return forms.filter(form => form.length >= SHORTEST_ENCODED)
}

/**
 * The base64 of a text: as it is, in lines of 76 and 64 characters, and what is sure of it when
 * something stands before and behind.
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
