/** Object or action that the search can open or run. */
export interface Findable {
  readonly text: string
  /** Kind of the item, such as `Namespace` or `Run`. */
  readonly group: string
  /** Detail that distinguishes the item from others with the same name, such as its namespace or branch. */
  readonly detail?: string
  /** Further words by which the item is found. */
  readonly also?: string
  /** Text that matches only from its beginning: a commit hash, because users do not search for its middle. */
  readonly begins?: string
  readonly href?: string
  /** Id, if several items have the same text and URL. */
  readonly id?: string
  readonly run?: () => void
}

type Searched = Pick<Findable, 'text' | 'also' | 'begins'>

/** Minimum length of a search word that is compared with `begins`, in characters. */
const LEAST = 4

/** Ranks of the ways in which a word matches a text, best first. */
const RANKS = { exact: 10, beginning: 8, word: 7, wordBeginning: 6, middle: 4, letters: 2 } as const

/**
 * Returns the items that match every word of a text, best match first. A word matches the text of an item if it equals
 * the text, its beginning, a word in it, the beginning of such a word or a part of its middle, or if its letters occur
 * in the text in the same order.
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

/** The first results of a search, and the number of further ones. */
export interface FewFound<T> {
  readonly found: readonly T[]
  readonly more: number
}

/**
 * Returns the first items that match a text, and the number of further ones. The number of items of each kind (`group`)
 * is limited, so that other kinds are visible, too.
 */
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

/** Returns the sum of the best ranks of all words for an item; 0 if one of the words does not match. */
function scoreOf({ text, also = '', begins = '' }: Searched, words: readonly string[]): number {
  const [own, other] = [text.toLowerCase(), also.toLowerCase()]
  let sum = 0
  for (const word of words) {
    const score = Math.max(
      rank(own, word) || (isInOrder(own, word) ? RANKS.letters : 0),
      // Letters in the same order are only searched in `text`, because they occur in any longer text.
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

/** True for characters between words, and for an empty string. */
const isBetween = (character: string): boolean => !/[\p{L}\p{N}]/u.test(character)

function isInOrder(text: string, word: string): boolean {
  let from = 0
  for (const letter of word) {
    from = text.indexOf(letter, from) + 1
    if (from === 0) return false
  }
  return true
}
