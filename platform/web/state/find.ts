/** Object or action that the search can open or run. */
export interface Findable {
  readonly text: string
  /** The kind of thing: `Namespace`, `Run`. */
  readonly group: string
  /** A detail that tells it from others of the same name: its namespace, its branch. */
  readonly detail?: string
  /** Other words by which it is found. */
  readonly also?: string
  /** Text that is matched only from its beginning: a commit hash, since users do not search for its middle. */
  readonly begins?: string
  readonly href?: string
  /** An id, where several things have the same text and address. */
  readonly id?: string
  readonly run?: () => void
}

type Searched = Pick<Findable, 'text' | 'also' | 'begins'>

/** The number of letters from which a beginning is found. */
const LEAST = 4

/** Ranks of a word in a text, the best first. */
const RANKS = { exact: 10, beginning: 8, word: 7, wordBeginning: 6, middle: 4, letters: 2 } as const

/**
 * Returns the items that a text finds, the best first: the whole text and its beginning before words in it, their
 * beginnings, its middle, and letters that are only in the same order. All words of the text must be found.
 */
export function find<T extends Searched>(all: readonly T[], text: string): readonly T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return all
  return all
    .map(item => ({ item, score: scoreOf(item, words) }))
    .filter(one => one.score > 0)
    .sort((a, b) => b.score - a.score)
    .map(one => one.item)
}

/** The first results of a search, and the number of the others. */
export interface FewFound<T> {
  readonly found: readonly T[]
  readonly more: number
}

/** Finds a few of many: of one kind of thing only so many, so that the others are seen, too. */
export function findFew<T extends Searched & Pick<Findable, 'group'>>(
  all: readonly T[],
  text: string,
  most: { readonly inAll: number; readonly ofGroup: number },
): FewFound<T> {
  const matching = find(all, text)
  const counts = new Map<string, number>()
  const found: T[] = []
  for (const one of matching) {
    const count = counts.get(one.group) ?? 0
    counts.set(one.group, count + 1)
    if (count < most.ofGroup && found.length < most.inAll) found.push(one)
  }
  return { found, more: matching.length - found.length }
}

/** 0 if one of the words is not found. */
function scoreOf({ text, also = '', begins = '' }: Searched, words: readonly string[]): number {
  const [own, other] = [text.toLowerCase(), also.toLowerCase()]
  let sum = 0
  for (const word of words) {
    const score = Math.max(
      rank(own, word) || (isInOrder(own, word) ? RANKS.letters : 0),
      // Letters in the same order are in any longer text.
      rank(other, word) - 1,
      word.length >= LEAST && begins.toLowerCase().startsWith(word) ? RANKS.wordBeginning : 0,
    )
    if (score <= 0) return 0
    sum += score
  }
  return sum
}

function rank(text: string, word: string): number {
  if (text === word) return RANKS.exact
  let best = 0
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (at === 0) return RANKS.beginning
    const isWhole = isBetween(text.charAt(at + word.length))
    const score = isBetween(text.charAt(at - 1)) ? (isWhole ? RANKS.word : RANKS.wordBeginning) : RANKS.middle
    best = Math.max(best, score)
  }
  return best
}

/** True for characters between words, and for none. */
const isBetween = (character: string): boolean => !/[\p{L}\p{N}]/u.test(character)

function isInOrder(text: string, word: string): boolean {
  let from = 0
  for (const letter of word) {
    from = text.indexOf(letter, from) + 1
    if (from === 0) return false
  }
  return true
}
