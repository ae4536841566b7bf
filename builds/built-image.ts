import { registryOf, repositoryOf } from '../adapters/registry/registry.ts'
import { parseImageReference } from '../compiler/values/images/image-reference.ts'
import { toVariableName } from '../compiler/values/variable-name.ts'

/** Parts of the reference of a built image. */
export interface BuiltImage {
  readonly registry: string
  readonly repository: string
  /** Full reference, with the digest if it is known. */
  readonly image: string
  readonly tag: string
  readonly sha: string
}

/** Returns the parts of a built image's reference, for the variables of commands. */
export function builtImage(reference: string): BuiltImage {
  const parsed = parseImageReference(reference)
  const { name, tag = '', digest = '' } = parsed.ok ? parsed.value : { name: reference }
  return { registry: registryOf(name), repository: repositoryOf(name), image: reference, tag, sha: digest }
}

/** Returns the variables of a service's image, such as `DEVCTL_BUILD_WEB_IMAGE`. */
export function buildVariables(prefix: string, service: string, image: BuiltImage): Readonly<Record<string, string>> {
  const start = `${prefix}_${toVariableName(service)}`
  return {
    [`${start}_REGISTRY`]: image.registry,
    [`${start}_REPOSITORY`]: image.repository,
    [`${start}_IMAGE`]: image.image,
    [`${start}_TAG`]: image.tag,
    [`${start}_SHA`]: image.sha,
  }
}
