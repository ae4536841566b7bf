import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { parseImageReference } from '../../compiler/values/images/image-reference.ts'
import { type OciReference, parseOciReference } from '../../compiler/values/images/oci-reference.ts'
import { parsedBy } from '../../project/checks.ts'

/** Throws a UsageError for what names no repository of a registry. */
export const ociReference = parsedBy(parseOciReference)

/**
 * The parts of a reference that was checked; the tag is that of the environment where it has none. Throws a UsageError
 * for an environment that cannot be one.
 */
export function parseReference(value: string, environment: string | undefined) {
  const { name, tag = environment ?? 'latest' } = partsOf(value)
  if (!parseImageReference(`${name}:${tag}`).ok)
    throw new UsageError(`\`${tag}\` cannot be a tag`, { hint: `name one: \`--oci ${name}:TAG\`` })
  return { name, tag, reference: `${name}:${tag}` }
}

/** The registry and the path of a reference that was checked. */
export const repositoryIn = (value: string): string => partsOf(value).name

function partsOf(value: string): OciReference {
  const read = parseOciReference(value)
  if (!read.ok) throw new Error(`a reference that was not checked: ${value}`)
  return read.value
}
