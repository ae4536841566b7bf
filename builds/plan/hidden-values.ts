import type { SecretPlaces } from '../../compiler/text/secret-places.ts'
import type { At } from '../../compiler/text/source.ts'
import { secretValues } from '../../compiler/values/secrets/known-secrets.ts'
import { isVariableWithSecret } from '../../compiler/values/secrets/secret-names.ts'

/** Values that the content tag of a build omits. */
export interface HiddenValues {
  /**
   * All values of the build. Two builds with the same content tag only have the same content if these values are also
   * equal.
   */
  readonly all: string
  /** Values of the build arguments that look secret. */
  readonly secrets: readonly string[]
}

/**
 * Returns the values of a build if its tag omits some of them because they look secret; otherwise undefined. Anyone can
 * read the tag, and could guess a weak value from it. A build whose omitted values change therefore keeps its tag. The
 * values never leave this process.
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
