import { CONDITION_SIGHT, type MaskCondition, namesMadeOf } from './masker.ts'

/** Shorter names are not looked for, and masked nowhere. */
const SHORTEST = 4
/** Longer names are not seen around a part of them. */
const LONGEST = CONDITION_SIGHT / 2

/**
 * The names of a project, which stay readable although they are secret, too: one that equals a
 * secret is masked only where it is a value, and one that contains a secret stays whole.
 */
export class SparedNames {
  /** The names as they are written, and as other names are made of them. */
  readonly #all = new Set<string>()
  #text: string | undefined

  /** Enters names. Gives true if one of them is new. */
  add(names: Iterable<string>): boolean {
    const before = this.#all.size
    for (const name of names)
      for (const one of [name, ...namesMadeOf(name)])
        if (one.length >= SHORTEST && one.length <= LONGEST) this.#all.add(one)
    if (this.#all.size > before) this.#text = undefined
    return this.#all.size > before
  }

  /** All names, in all their forms. */
  get all(): ReadonlySet<string> {
    return this.#all
  }

  /** True if a text is one of the names. */
  has(text: string): boolean {
    return this.#all.has(text)
  }

  /**
   * The condition for masking a form of a secret: `isValue` if it is a name, and not within the
   * names that contain it; undefined if it has nothing to do with names.
   */
  conditionOf(form: string, isValue: MaskCondition): MaskCondition | undefined {
    this.#text ??= [...this.#all].join('\n')
    // A form has no line end in it. Most are in no name.
    if (!this.#text.includes(form)) return undefined
    // Found when a text has the form: few do.
    let around: readonly Around[] | undefined
    const isInName: MaskCondition = (text, start) => {
      around ??= [...this.#all].flatMap(name => (name === form ? [] : offsetsIn(name, form)))
      return around.some(({ name, offset }) => isNameAt(text, start - offset, name))
    }
    if (!this.#all.has(form)) return (...at) => !isInName(...at)
    return (...at) => isValue(...at) && !isInName(...at)
  }
}

/** A name that contains a form of a secret, and where. */
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
 * True if a name stands at an offset, and no letter or digit around it; before `@` a password may stand, or an image
 * before its digest.
 */
const isNameAt = (text: string, at: number, name: string): boolean =>
  at >= 0 &&
  text.startsWith(name, at) &&
  !/[A-Za-z0-9]/.test(text[at - 1] ?? '') &&
  !/^(?:[A-Za-z0-9]|@(?!sha256:))/.test(text.slice(at + name.length, at + name.length + 8))
