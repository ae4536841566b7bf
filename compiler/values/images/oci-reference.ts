import { failed, type Parsed, parsed } from '../parsed.ts'
import { parseImageReference, registryIn } from './image-reference.ts'

/** Address of an artifact in a registry. */
export interface OciReference {
  /** Repository, including its registry. */
  readonly name: string
  readonly tag?: string
}

const EXAMPLE = 'write `REGISTRY/PATH` or `REGISTRY/PATH:TAG`, such as `registry.example.com/team/shop`'

/**
 * Parses the address of an artifact, `[oci://]REGISTRY/PATH[:TAG]`. Controllers write the address with `oci://`. Unlike
 * the name of an image, it must contain the registry.
 */
export function parseOciReference(text: string): Parsed<OciReference> {
  const read = parseImageReference(text.replace(/^oci:\/\//, ''))
  if (!read.ok) return failed(read.reason, EXAMPLE)
  const { digest, ...reference } = read.value
  if (digest !== undefined)
    return failed('a digest is not allowed', 'use a tag, or none: the digest results from the content')
  return registryIn(reference.name) === undefined ? failed('it has no registry', EXAMPLE) : parsed(reference)
}
