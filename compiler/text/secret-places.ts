import { isVariableWithSecret } from '../values/secrets/secret-names.ts'
import type { SourceFile, Span } from './source.ts'
import type { Piece, ScalarTree, Tree, UsedVariable } from './tree.ts'

/** The placeholder for a secret. */
export const HIDDEN = '***'

/** A part of the source whose value is secret because of its origin. */
export interface SecretPlace {
  readonly span: Span
  /** Origin for messages: `\`DB_PASSWORD\``, `the secret \`token\``. */
  readonly origin: string
  /** The secret value at this position. */
  readonly value: string
}

/**
 * The positions in a project's files whose values are secret because of their origin. Every value of the model keeps
 * its position in the files. A secret is therefore recognized in any output, even if its value was split.
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

  /** Adds a secret value that has no position in the model. */
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

  /**
   * Adds the position of a variable in a scalar, if the variable's value is secret. `pieces` are the pieces of the
   * scalar, sorted by source position.
   */
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

  /** Returns a secret position that overlaps a part of the source. */
  at(span: Span): SecretPlace | undefined {
    const [found] = this.within(span)
    return found
  }

  /** Yields all secret positions that overlap a part of the source, last position first. */
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
   * Yields the positions whose source text contains the secret value itself, for example as the default of a variable.
   * Excerpts must not show them.
   */
  *written(): Generator<Span> {
    for (const { list } of this.#places.values())
      for (const { span, value } of list) if (span.file.text.slice(span.start, span.end).includes(value)) yield span
  }

  /**
   * Replaces the secrets in a text with a placeholder if the position of the text overlaps a secret position. Returns
   * other texts unchanged.
   */
  without(text: string, span: Span): string {
    if (!this.at(span)) return text
    return [...this.#values]
      .sort((a, b) => b.length - a.length)
      .reduce((rest, value) => rest.replaceAll(value, HIDDEN), text)
  }

  get isEmpty(): boolean {
    return this.#places.size === 0
  }

  /** All secret values, with and without positions. */
  get values(): ReadonlySet<string> {
    return this.#values
  }

  /** Complete values in the model that contain a secret. */
  get phrases(): ReadonlySet<string> {
    return this.#phrases
  }
}

/** True if one of the variables in a value makes the value secret. */
export const isMadeOfSecret = (tree: Tree | undefined): boolean =>
  tree?.kind === 'scalar' &&
  Boolean(tree.variables?.some(variable => variable.isSecret || isDefaultOfSecret(variable, String(tree.value))))

const isDefaultOfSecret = ({ name, origin }: UsedVariable, value: string): boolean =>
  origin === 'its default' && isVariableWithSecret(name, value)

/** Returns the index of the first element in a sorted list that starts at or after an offset. */
function firstFrom(list: readonly { readonly span: Span }[], offset: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle]!.span.start < offset) low = middle + 1
    else high = middle
  }
  return low
}
