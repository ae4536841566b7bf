import { isVariableWithSecret } from '../values/secrets/secret-names.ts'
import type { SourceFile, Span } from './source.ts'
import type { Piece, ScalarTree, Tree, UsedVariable } from './tree.ts'

/** The placeholder for a secret. */
export const HIDDEN = '***'

/** A stretch of the source whose value is secret because of where it comes from. */
export interface SecretPlace {
  readonly span: Span
  /** Origin in words: `\`DB_PASSWORD\``, `the secret \`token\``. */
  readonly origin: string
  /** The value that it stands for there. */
  readonly value: string
}

/**
 * The positions in a project's files whose values are secret because of their origin. Every value of the model has its
 * position, so a secret is found in any output, however its value was split on the way.
 */
export class SecretPlaces {
  readonly #places = new Map<SourceFile, { readonly list: SecretPlace[]; longest: number; sorted: boolean }>()
  readonly #values = new Set<string>()
  readonly #phrases = new Set<string>()

  add(place: SecretPlace): void {
    const { span, value } = place
    const length = span.end - span.start
    const known = this.#places.get(span.file)
    if (known) {
      known.list.push(place)
      known.longest = Math.max(known.longest, length)
      known.sorted = false
    } else this.#places.set(span.file, { list: [place], longest: length, sorted: true })
    this.addValue(value)
  }

  /** Enters a value that has no place in the model. */
  addValue(value: string): void {
    if (value !== '') this.#values.add(value)
  }

  /** Adds the secret positions of a document whose variables have been substituted. */
  addFrom(tree: Tree): void {
    switch (tree.kind) {
      case 'map':
        for (const { value } of tree.entries.values()) this.addFrom(value)
        break
      case 'seq':
        for (const item of tree.items) this.addFrom(item)
        break
      case 'scalar':
        if (tree.variables) this.#addVariables(tree, tree.variables)
    }
  }

  #addVariables(scalar: ScalarTree, variables: readonly UsedVariable[]): void {
    const asked = variables.filter(({ isSecret, origin }) => isSecret || origin === 'its default')
    if (asked.length === 0) return
    const pieces = [...(scalar.pieces ?? [])].sort((a, b) => a.span.start - b.span.start)
    for (const variable of asked) this.#addVariable(scalar, pieces, variable)
  }

  /** `pieces` are those of the scalar, sorted by where they were written. */
  #addVariable(scalar: ScalarTree, pieces: readonly Piece[], { name, span, isSecret }: UsedVariable): void {
    const whole = String(scalar.value)
    const inside: Piece[] = []
    for (let at = firstFrom(pieces, span.start); at < pieces.length && pieces[at]!.span.start < span.end; at++) {
      const piece = pieces[at]!
      if (piece.span.file === span.file && piece.span.end <= span.end) inside.push(piece)
    }
    const value = inside
      .sort((a, b) => a.at - b.at)
      .map(({ at, length }) => whole.slice(at, at + length))
      .join('')
    if (value === '' || (!isSecret && !isVariableWithSecret(name, value))) return
    this.add({ span, origin: `\`${name}\``, value })
    this.#phrases.add(whole)
  }

  /** Returns a secret position that a stretch of the source overlaps. */
  at(span: Span): SecretPlace | undefined {
    const [found] = this.within(span)
    return found
  }

  /** All secret places that a stretch of the source overlaps, the last one first. */
  *within(span: Span): Generator<SecretPlace> {
    const known = this.#places.get(span.file)
    if (!known) return
    const { list, longest } = known
    if (!known.sorted) {
      list.sort((a, b) => a.span.start - b.span.start)
      known.sorted = true
    }
    for (let index = firstFrom(list, span.end) - 1; index >= 0; index--) {
      const place = list[index]!
      if (place.span.start + longest <= span.start) return
      if (place.span.end > span.start) yield place
    }
  }

  /**
   * The places whose text has the value itself in it, as the default of a variable: no excerpt may
   * show them.
   */
  *written(): Generator<Span> {
    for (const { list } of this.#places.values())
      for (const { span, value } of list) if (span.file.text.slice(span.start, span.end).includes(value)) yield span
  }

  /** Returns a text with its secrets replaced, if its position is that of a secret. */
  without(text: string, span: Span): string {
    if (!this.at(span)) return text
    return [...this.#values]
      .sort((a, b) => b.length - a.length)
      .reduce((rest, value) => rest.replaceAll(value, HIDDEN), text)
  }

  get isEmpty(): boolean {
    return this.#places.size === 0
  }

  /** All values, those of places among them. */
  get values(): ReadonlySet<string> {
    return this.#values
  }

  /** The values of the model that have a secret in them, as a whole. */
  get phrases(): ReadonlySet<string> {
    return this.#phrases
  }
}

/** True if a variable that took part in a value makes it secret. */
export const isMadeOfSecret = (tree: Tree | undefined): boolean =>
  tree?.kind === 'scalar' &&
  Boolean(tree.variables?.some(variable => variable.isSecret || isDefaultOfSecret(variable, String(tree.value))))

const isDefaultOfSecret = ({ name, origin }: UsedVariable, value: string): boolean =>
  origin === 'its default' && isVariableWithSecret(name, value)

/** The index of the first in a sorted list that begins at an offset or behind it. */
function firstFrom(list: readonly { readonly span: Span }[], offset: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle]!.span.start < offset) low = middle + 1
    else high = middle
  }
  return low
}
