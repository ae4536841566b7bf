import { registryOf, repositoryOf } from '../../adapters/registry/registry.ts'
import { parseImageReference } from '../../compiler/values/image-reference.ts'
import type { BuiltImage } from '../commands/command-variables.ts'

/** The parts of the reference of an image that was built, for the variables of commands. */
export function builtImage(reference: string): BuiltImage {
  const parsed = parseImageReference(reference)
  const { name, tag = '', digest = '' } = parsed.ok ? parsed.value : { name: reference }
  return { registry: registryOf(name), repository: repositoryOf(name), image: reference, tag, sha: digest }
}
