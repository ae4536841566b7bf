import { csvFields } from '../csv-fields.ts'
import { failed, type Parsed, parsed } from '../parsed.ts'
import { parseImageReference } from './image-reference.ts'

/** A cache that a build imports or exports: https://docs.docker.com/build/cache/backends/ */
export interface BuildCache {
  readonly type: string
  readonly attributes: Readonly<Record<string, string>>
}

/** The attribute that each cache type requires for import and for export. */
const BACKENDS: Readonly<Record<string, { readonly from?: string; readonly to?: string }>> = {
  registry: { from: 'ref', to: 'ref' },
  local: { from: 'src', to: 'dest' },
  inline: {},
  gha: {},
  s3: { from: 'bucket', to: 'bucket' },
  azblob: { from: 'account_url', to: 'account_url' },
}

const FORM = 'write an image, or `type=TYPE,KEY=VALUE,…`'

/**
 * Parses an item of `cache_from` or `cache_to`. A list of images without a type, separated by commas, means `registry`
 * caches. Any other item is one cache, as CSV with `type=`. An empty text, which an unset variable leaves, is no cache.
 */
export function parseBuildCaches(text: string, use: 'from' | 'to'): Parsed<readonly BuildCache[]> {
  if (text === '') return parsed([])
  const fields = csvFields(text)
  if (!fields) return failed('its quotes are not closed', FORM)
  if (fields.every(field => !field.includes('='))) return registryCaches(fields)
  const attributes: Record<string, string> = {}
  for (const field of fields) {
    const at = field.indexOf('=')
    if (at < 1) return failed(`\`${field}\` has no \`=\``, FORM, placeOf(field, text))
    attributes[field.slice(0, at).trim().toLowerCase()] = field.slice(at + 1)
  }
  const { type, ...rest } = attributes
  return type === undefined ? failed('it has no `type`', FORM) : checked({ type, attributes: rest }, text, use)
}

function registryCaches(references: readonly string[]): Parsed<readonly BuildCache[]> {
  for (const reference of references) {
    const read = parseImageReference(reference)
    if (!read.ok) return read
  }
  return parsed(references.map(ref => ({ type: 'registry', attributes: { ref } })))
}

function checked(entry: BuildCache, text: string, use: 'from' | 'to'): Parsed<readonly BuildCache[]> {
  const { type, attributes } = entry
  const backend = Object.hasOwn(BACKENDS, type) ? BACKENDS[type] : undefined
  if (!backend) {
    const hint = `the types are ${Object.keys(BACKENDS)
      .map(one => `\`${one}\``)
      .join(', ')}`
    return failed(`\`${type}\` is not a type of cache`, hint, placeOf(type, text))
  }
  if (type === 'inline' && use === 'from')
    return failed('an `inline` cache is part of its image', 'write the name of the image')
  const needed = backend[use]
  if (needed !== undefined && !attributes[needed])
    return failed(`a cache of the type \`${type}\` needs \`${needed}\``, `add \`${needed}=…\``)
  if (type !== 'registry') return parsed([entry])
  const reference = parseImageReference(attributes.ref!)
  return reference.ok ? parsed([entry]) : failed(reference.reason, reference.hint, placeOf(attributes.ref!, text))
}

function placeOf(part: string, text: string): readonly [number, number] | undefined {
  const at = text.indexOf(part)
  return at < 0 || part === '' ? undefined : [at, at + part.length]
}
