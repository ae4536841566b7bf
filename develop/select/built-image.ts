import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { DevelopmentContainer } from '../../compiler/manifest/development.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { toVariableName } from '../../compiler/values/variable-name.ts'
import type { FoundDevelopment } from './find-development.ts'

/** Matches an image that consists of the variable of a build: `${DEVCTL_BUILD_API_IMAGE}`. */
const BUILT = /^\$\{?(?:DEVCTL|OKTETO)_BUILD_(\w+)_IMAGE\}?$/

/**
 * Resolves images that are variables of builds, in a development container and its `services`, with the values from the
 * shell. If a variable is not set but belongs to the build with the container's own name, and the workload is deployed,
 * the container gets the image of the deployed workload, also after a rebuild. Throws a UserError for any other
 * variable that is not set.
 */
export function withBuiltImages(
  found: FoundDevelopment,
  hasOriginal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): FoundDevelopment {
  const { development } = found
  const services = development.services.map(one => withBuiltImage(one, true, env))
  return { ...found, development: { ...withBuiltImage(development, hasOriginal, env), services } }
}

function withBuiltImage<One extends DevelopmentContainer>(
  one: One,
  hasOriginal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): One {
  const { image, ...rest } = one
  const [, build] = BUILT.exec(image?.value ?? '') ?? []
  if (!image || build === undefined) return one
  const value = env[`DEVCTL_BUILD_${build}_IMAGE`] || env[`OKTETO_BUILD_${build}_IMAGE`]
  if (value) return { ...one, image: { ...image, value } }
  if (hasOriginal && build === toVariableName(one.name)) return rest as One // without an optional property
  throw new UserError(`\`image\` of \`${one.name}\` is \`${image.value}\`, which \`up\` does not know`, {
    notes: [shownPlace(image.span)],
    hint: hasOriginal
      ? 'remove `image`, so that the image of the deployed workload is used, or set the variable in the shell'
      : 'name an image, or set the variable in the shell',
  })
}
