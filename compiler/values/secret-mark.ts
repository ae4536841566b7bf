import { scryptSync } from 'node:crypto'

/** Sixteen megabytes and some 40 ms for each guess. */
const COST = { N: 2 ** 14, r: 8, p: 1 }
const BYTES = 2

/** By the texts: services often share their arguments. */
const marks = new Map<string, string>()

/**
 * A mark of secrets that changes with them, for the tag of an image that is made of them. It is to
 * tell a value from the one before, and not to give it away: everybody sees the tag, knows what
 * else it is a hash of, and may try values. So each try is slow, and 16 bits leave several of a
 * million guesses; one change in 65,536 is not noticed. All secrets of a build have one mark, so
 * that the weakest cannot be guessed without the others.
 */
export function secretMark(secrets: readonly (readonly string[])[]): string {
  const text = JSON.stringify(secrets)
  const known = marks.get(text)
  if (known !== undefined) return known
  const mark = scryptSync(text, 'devctl-build-secrets', BYTES, COST).toString('hex')
  marks.set(text, mark)
  return mark
}
