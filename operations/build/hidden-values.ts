import type { SecretPlaces } from '../../compiler/text/secret-places.ts'
import type { At } from '../../compiler/text/source.ts'
import { isVariableWithSecret } from '../../compiler/values/secret-names.ts'

/**
 * True if a build has values that do not count in the tag, because they look secret: everybody sees
 * the tag, and a weak value could be guessed from it. The tag then does not tell when they change.
 */
export const hasHiddenValues = (
  args: readonly (At<string> & { readonly name: string })[],
  others: readonly (At<string> | undefined)[],
  secrets: SecretPlaces,
): boolean =>
  args.some(({ name, value }) => isVariableWithSecret(name, value)) ||
  [...args, ...others].some(text => text !== undefined && secrets.at(text.span) !== undefined)
