/** Crockford's base 32 alphabet, in lower case: without i, l, o and u. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * Creates a ULID (https://github.com/ulid/spec) in lower case: it sorts by time, and is valid in Kubernetes names.
 * `random` has ten bytes.
 */
export function makeUlid(milliseconds: number, random: Uint8Array): string {
  let value = (BigInt(milliseconds) << 80n) | BigInt(`0x${Buffer.from(random.subarray(0, 10)).toString('hex')}`)
  let text = ''
  for (; text.length < 26; value >>= 5n) text = LETTERS[Number(value & 31n)] + text
  return text
}

/** Returns the time of a ULID, in milliseconds since 1970. */
export function timeOfUlid(ulid: string): number {
  let time = 0
  for (const letter of ulid.slice(0, 10)) time = time * 32 + LETTERS.indexOf(letter)
  return time
}

export const isUlid = (text: string): boolean => /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text)
