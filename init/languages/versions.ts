/**
 * Returns the first version in a text, reduced to the given number of parts: with one part, `20` from `>=20.11 <23`.
 * Undefined if the text contains no version, such as `lts/*`.
 */
export function version(text: string | undefined, parts: number): string | undefined {
  const found = /\d+(?:\.\d+)*/.exec(text ?? '')?.[0]
  return found?.split('.').slice(0, parts).join('.')
}

/** Returns the first line that is not a comment: version files consist of the version, below optional comments. */
export const firstLine = (text: string | undefined): string | undefined =>
  text
    ?.split(/\r?\n/)
    .map(line => line.trim())
    .find(line => line !== '' && !line.startsWith('#'))
