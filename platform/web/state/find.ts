/** One thing that the search can open or do. */
export interface Findable {
  readonly text: string
  /** What kind of thing it is. */
  readonly group: string
  /** Other words by which it is found. */
  readonly also?: string
  readonly href?: string
  readonly run?: () => void
}

/**
 * Those that a text finds, the best first: whole words and beginnings before letters that are only in
 * the same order. All words of the text must be found.
 */
export function find<T extends Pick<Findable, 'text' | 'also'>>(all: readonly T[], text: string): readonly T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return all
  return all
    .map(item => {
      const scores = words.map(word => Math.max(score(item.text, word), score(item.also ?? '', word) - 1))
      return { item, score: scores.some(one => one <= 0) ? 0 : scores.reduce((sum, one) => sum + one, 0) }
    })
    .filter(one => one.score > 0)
    .sort((a, b) => b.score - a.score)
    .map(one => one.item)
}

function score(text: string, word: string): number {
  const lower = text.toLowerCase()
  const place = lower.indexOf(word)
  if (place === 0) return lower.length === word.length ? 10 : 8
  if (place > 0) return /[^a-z0-9]/.test(lower.charAt(place - 1)) ? 6 : 4
  let from = 0
  for (const letter of word) {
    from = lower.indexOf(letter, from) + 1
    if (from === 0) return 0
  }
  return 2
}
