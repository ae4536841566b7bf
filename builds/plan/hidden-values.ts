import type { SecretPlaces } from '../../compiler/text/secret-places.ts'
import type { At } from '../../compiler/text/source.ts'
import { secretValues } from '../../compiler/values/secrets/known-secrets.ts'
import { isVariableWithSecret } from '../../compiler/values/secrets/secret-names.ts'

/** Values of a build whose content tag omits some of them, because they look secret. */
export interface HiddenValues {
  /**
   * All values of the build, as JSON. Builds with the same content tag have the same content only if these values are
   * equal, too.
   */
  readonly all: string
  /** Values of the build arguments that look secret. */
  readonly secrets: readonly string[]
}

/**
 * Returns the values of a build whose content tag omits some of them because they look secret; undefined for any other
 * build. The tag omits such values because anyone can read it and could guess a weak value from it. As a result, the
 * tag stays the same if one of them changes. The values never leave this process.
 */
export const hiddenValues = (
  args: readonly (At<string> & { readonly name: string })[],
  others: readonly (At<string> | undefined)[],
  secrets: SecretPlaces,
): HiddenValues | undefined => {
  const isHidden =
    args.some(({ name, value }) => isVariableWithSecret(name, value)) ||
    [...args, ...others].some(text => text !== undefined && secrets.at(text.span) !== undefined)
  if (!isHidden) return undefined
  const all = JSON.stringify([
    args.map(({ name, value }): readonly [string, string] => [name, value]).sort(([a], [b]) => (a < b ? -1 : 1)),
    others.map(text => text?.value),
  ])
  return { all, secrets: secretValues(Object.fromEntries(args.map(({ name, value }) => [name, value]))) }
}
