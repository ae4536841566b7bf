const VERSION = /\d+(?:\.\d+)*/
/**
 * Matches the parts of a version range that exclude a version or set an upper limit, such as `<23`. `LAST_INCLUDED`
 * matches the version after `<=`.
 */
const EXCLUDED = /(?:<=?|!=)\s*v?\d+(?:\.[\d*]+)*/g
const LAST_INCLUDED = /(?<=<=\s*v?)\d+(?:\.\d+)*/

/**
 * Returns a version that a version or range allows, reduced to the given number of parts: with one part, `20` from `<23
 * >=20.11`. Undefined if the text contains no allowed version; examples are `lts/*` and `<23`.
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
