/** Crockford's base 32, in lower case: without i, l, o and u. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz'

/** A ULID (https://github.com/ulid/spec) in lower case: sorts by its time, and names can have it. `random` are ten bytes. */
export function makeUlid(milliseconds: number, random: Uint8Array): string {
  let value = (BigInt(milliseconds) << 80n) | BigInt(`0x${Buffer.from(random.subarray(0, 10)).toString('hex')}`)
  let text = ''
  for (; text.length < 26; value >>= 5n) text = LETTERS[Number(value & 31n)] + text
  return text
}

export const isUlid = (text: string): boolean => /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text)
