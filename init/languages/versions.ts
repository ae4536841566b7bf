/**
 * The first version in a text, with this many parts: `20` of `>=20.11 <23` for one. Undefined if it names none, such as
 * `lts/*`.
 */
export function version(text: string | undefined, parts: number): string | undefined {
  const found = /\d+(?:\.\d+)*/.exec(text ?? '')?.[0]
  return found?.split('.').slice(0, parts).join('.')
}

/** The first line that says something: files with a version have it alone, below comments. */
export const firstLine = (text: string | undefined): string | undefined =>
  text
    ?.split(/\r?\n/)
    .map(line => line.trim())
    .find(line => line !== '' && !line.startsWith('#'))
