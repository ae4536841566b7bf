import { CONDITION_SIGHT, type MaskCondition, namesMadeOf } from './masker.ts'

/** Minimum length of a name. Shorter names are ignored, because a secret of that length is not masked within a text. */
const SHORTEST = 4
/** Maximum length of a name. A condition cannot read enough text around a secret to recognize a longer name. */
const LONGEST = CONDITION_SIGHT / 2

/**
 * The names of a project, which stay readable even if they are secrets, too. A name that equals a secret is masked only
 * if it is a value, and a name that contains a secret is not masked.
 */
export class SparedNames {
  /** Names as they are written, and in the forms that they take in derived names. */
  readonly #all = new Set<string>()
  #text: string | undefined

  /** Adds names. Returns true if at least one of them is new. */
  add(names: Iterable<string>): boolean {
    const before = this.#all.size
    for (const name of names)
      for (const one of [name, ...namesMadeOf(name)])
        if (one.length >= SHORTEST && one.length <= LONGEST) this.#all.add(one)
    if (this.#all.size > before) this.#text = undefined
    return this.#all.size > before
  }

  /** Returns all names in all their forms. */
  get all(): ReadonlySet<string> {
    return this.#all
  }

  /** True if a text is one of the names. */
  has(text: string): boolean {
    return this.#all.has(text)
  }

  /**
   * Returns the condition for masking a form of a secret. A form that equals a name is masked only where `isValue`
   * returns true. A form that occurs in longer names is not masked where it is part of such a name. Returns undefined
   * if no name contains the form.
   */
  conditionOf(form: string, isValue: MaskCondition): MaskCondition | undefined {
    this.#text ??= [...this.#all].join('\n')
    // A form contains no line end, so it cannot match across names. Most forms are in no name.
    if (!this.#text.includes(form)) return undefined
    // Computed only when a text contains the form, which is rare.
    let around: readonly Around[] | undefined
    const isInName: MaskCondition = (text, start) => {
      around ??= [...this.#all].flatMap(name => (name === form ? [] : offsetsIn(name, form)))
      return around.some(({ name, offset }) => isNameAt(text, start - offset, name))
    }
    if (!this.#all.has(form)) return (...at) => !isInName(...at)
    return (...at) => isValue(...at) && !isInName(...at)
  }
}

/** A name that contains a form of a secret, with the offset of the form. */
interface Around {
  readonly name: string
  readonly offset: number
}

function offsetsIn(name: string, form: string): readonly Around[] {
  const found: Around[] = []
  for (let offset = name.indexOf(form); offset >= 0; offset = name.indexOf(form, offset + 1))
    found.push({ name, offset })
  return found
}

/**
 * True if a text contains a name at an offset, without a letter or digit next to it. A name before `@` does not count,
 * because it may be a password, unless the `@` starts an image digest.
 */
const isNameAt = (text: string, at: number, name: string): boolean =>
  at >= 0 &&
  text.startsWith(name, at) &&
  !/[A-Za-z0-9]/.test(text[at - 1] ?? '') &&
  !/^(?:[A-Za-z0-9]|@(?!sha256:))/.test(text.slice(at + name.length, at + name.length + 8))
