/**
 * Returns the known word that a misspelled word most likely stands for: the same word with other case or separators
 * (`dependsOn`, `Env-File`), or a word at most two typos away. If there is none, returns a known word that begins with
 * the misspelled word, or with which the misspelled word begins, provided that it is the only one. Returns undefined if
 * no word is similar. Takes time linear in the number of known words.
 */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  const plain = plainly(word)
  // Short words are similar to too many others: allows one typo from three letters on, two from six letters on.
  const limit = plain.length < 3 ? 0 : plain.length < 6 ? 1 : 2
  let best: string | undefined
  let bestDistance = limit + 1
  const begun: string[] = []
  for (const candidate of known) {
    const other = plainly(candidate)
    if (other === plain) return candidate
    if (plain.length >= 3 && (other.startsWith(plain) || (other.length >= 4 && plain.startsWith(other))))
      begun.push(candidate)
    if (Math.abs(other.length - plain.length) >= bestDistance) continue
    const distance = slips(plain, other, bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best ?? (begun.length === 1 ? begun[0] : undefined)
}

/** Returns the hint `` did you mean `image`? `` with the most similar known word. */
export function didYouMean(word: string, known: Iterable<string>): string | undefined {
  const near = suggest(word, known)
  return near === undefined ? undefined : `did you mean \`${near}\`?`
}

const plainly = (word: string) => word.toLowerCase().replace(/[-_ .]/g, '')

/**
 * Returns the edit distance of two words: the number of letters to add, drop, change or swap with the following letter.
 * Stops counting at `limit`.
 */
function slips(from: string, to: string, limit: number): number {
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    let least = i
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        cost = Math.min(cost, before[j - 2]! + 1)
      next.push(cost)
      least = Math.min(least, cost)
    }
    if (least >= limit) return limit
    before = row
    row = next
  }
  return row[to.length]!
}
