import { type ImageReference, parseImageReference } from '../../compiler/values/image-reference.ts'
import { namesRegistry } from '../../images/registry.ts'
import { UsageError } from '../errors.ts'

/** Throws a UsageError for what names no repository of a registry. */
export function ociReference(value: string, option: string): void {
  const read = parseImageReference(withoutScheme(value))
  const refuse = (reason: string, hint: string) => new UsageError(`\`${option}\` is \`${value}\`: ${reason}`, { hint })
  const example = 'write `REGISTRY/PATH` or `REGISTRY/PATH:TAG`, such as `registry.example.com/team/shop`'
  if (!read.ok) throw refuse(read.reason, example)
  if (read.value.digest !== undefined) throw refuse('a digest follows from the content', 'name a tag, or none')
  if (!namesRegistry(read.value.name)) throw refuse('it names no registry', example)
}

/** The parts of a reference that was checked; the tag is that of the environment where it has none. Throws a UsageError for an environment that cannot be one. */
export function parseReference(value: string, environment: string | undefined) {
  const { name, tag = environment ?? 'latest' } = partsOf(value)
  if (!parseImageReference(`${name}:${tag}`).ok)
    throw new UsageError(`\`${tag}\` cannot be a tag`, { hint: `name one: \`--oci ${name}:TAG\`` })
  return { name, tag, reference: `${name}:${tag}` }
}

/** The registry and the path of a reference that was checked. */
export const repositoryIn = (value: string): string => partsOf(value).name

function partsOf(value: string): ImageReference {
  const read = parseImageReference(withoutScheme(value))
  if (!read.ok) throw new Error(`a reference that was not checked: ${value}`)
  return read.value
}

/** Controllers write it with one. */
const withoutScheme = (value: string) => value.replace(/^oci:\/\//, '')
