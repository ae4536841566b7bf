import { registryOf, repositoryOf } from '../adapters/registry/registry.ts'
import { parseImageReference } from '../compiler/values/images/image-reference.ts'
import { toVariableName } from '../compiler/values/variable-name.ts'

/** The parts of an image that was built. */
export interface BuiltImage {
  readonly registry: string
  readonly repository: string
  /** The whole reference, with the digest where it is known. */
  readonly image: string
  readonly tag: string
  readonly sha: string
}

/** The parts of the reference of an image that was built, for the variables of commands. */
export function builtImage(reference: string): BuiltImage {
  const parsed = parseImageReference(reference)
  const { name, tag = '', digest = '' } = parsed.ok ? parsed.value : { name: reference }
  return { registry: registryOf(name), repository: repositoryOf(name), image: reference, tag, sha: digest }
}

/** `DEVCTL_BUILD_WEB_IMAGE` and the others of a service. */
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
