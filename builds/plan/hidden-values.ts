import type { SecretPlaces } from '../../compiler/text/secret-places.ts'
import type { At } from '../../compiler/text/source.ts'
import { secretValues } from '../../compiler/values/secrets/known-secrets.ts'
import { isVariableWithSecret } from '../../compiler/values/secrets/secret-names.ts'

/** The values that the tag of a build's content leaves out. */
export interface HiddenValues {
  /** All values of the build: equal for two builds with one tag if they have the same content. */
  readonly all: string
  /** The values of arguments that look secret. */
  readonly secrets: readonly string[]
}

/**
 * Returns the values of a build if the tag leaves some out because they look secret: anyone can read the tag, and a
 * weak value could be guessed from it. The tag then does not show when they change. The values never leave this
 * process.
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
