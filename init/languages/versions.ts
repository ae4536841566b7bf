const VERSION = /\d+(?:\.\d+)*/
/** Versions of a range that are not part of it, or that end it. */
const EXCLUDED = /(?:<=?|!=)\s*v?\d+(?:\.[\d*]+)*/g
const LAST_INCLUDED = /(?<=<=\s*v?)\d+(?:\.\d+)*/

/**
 * Returns a version that a version or range allows, reduced to the given number of parts: with one part, `20` from
 * `<23 >=20.11`. Undefined if the text names no such version, such as `lts/*` and `<23`.
 */
export function version(text: string | undefined, parts: number): string | undefined {
  const range = text ?? ''
  const found = (VERSION.exec(range.replace(EXCLUDED, '')) ?? LAST_INCLUDED.exec(range))?.[0]
  return found?.split('.').slice(0, parts).join('.')
}

/** Returns the first line that is not a comment: version files consist of the version, below optional comments. */
export const firstLine = (text: string | undefined): string | undefined =>
  text
    ?.split(/\r?\n/)
    .map(line => line.trim())
    .find(line => line !== '' && !line.startsWith('#'))
