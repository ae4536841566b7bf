import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { parseImageReference } from '../../compiler/values/images/image-reference.ts'
import { type OciReference, parseOciReference } from '../../compiler/values/images/oci-reference.ts'
import { parsedBy } from '../../project/checks.ts'

/** Parses a reference. Throws a UsageError if it does not name a repository of a registry. */
export const ociReference = parsedBy(parseOciReference)

/**
 * Returns the parts of a validated reference. Without a tag, the name of the environment is the tag. Throws a
 * UsageError if that name is not a valid tag.
 */
export function parseReference(value: string, environment: string | undefined) {
  const { name, tag = environment ?? 'latest' } = partsOf(value)
  if (!parseImageReference(`${name}:${tag}`).ok)
    throw new UsageError(`\`${tag}\` cannot be a tag`, { hint: `name one: \`--oci ${name}:TAG\`` })
  return { name, tag, reference: `${name}:${tag}` }
}

/** Returns the registry and the path of a validated reference. */
export const repositoryIn = (value: string): string => partsOf(value).name

function partsOf(value: string): OciReference {
  const read = parseOciReference(value)
  if (!read.ok) throw new Error(`a reference that was not checked: ${value}`)
  return read.value
}
