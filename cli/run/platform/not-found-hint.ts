import { didYouMean } from '../../../compiler/diagnostics/suggest.ts'

/** Maximum number of names in the hint. */
const SHOWN = 10

/**
 * Returns the hint if the object to destroy does not exist: a similar name, or a list of the existing names. `called`
 * is the plural of the kind of object, for messages.
 */
export function notFoundHint(name: string, known: Iterable<string>, called: string): string {
  const again = 'if it may be destroyed already, add `--ignore-not-found`'
  const near = didYouMean(name, known)
  if (near !== undefined) return `${near} Otherwise ${again}`
  const names = [...known].sort()
  if (names.length === 0) return `there are no ${called}; ${again}`
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ''
  const shown = names.slice(0, SHOWN).map(one => `\`${one}\``)
  return `the ${called} are ${shown.join(', ')}${more}; ${again}`
}
