import { shapeAt } from '../compiler/compose/keys/lookup.ts'
import type { ModelPath } from '../compiler/schema/model-path.ts'
import type { ScalarTree } from '../compiler/text/tree.ts'

/**
 * Returns other values to try for a scalar of the model. Some of them may not be valid for the key at `path`; the first
 * valid one shows what depends on the scalar.
 */
export function otherValues(scalar: ScalarTree, path: ModelPath): readonly ScalarTree[] {
  const words = wordsAt(path)
  const others = words.filter(word => word !== '' && word !== scalar.value && !FAR.has(word))
  return [...others, ...byType(scalar.value)].map(value => toScalar(scalar, value))
}

/** True if the key at a path accepts only certain words. */
export const hasWords = (path: ModelPath): boolean => wordsAt(path).length > 0

/** True if the last step of a path is a name that the user chooses, such as the name of a variable. */
export const isNamedByUser = (path: ModelPath): boolean =>
  typeof path.at(-1) === 'string' && shapeAt(path.slice(0, -1).map(String))?.map?.others !== undefined

const wordsAt = (path: ModelPath): readonly string[] => shapeAt(path.map(String))?.scalar?.words ?? []

/**
 * Words that are not tried, because they turn another service into a Job. Every dependency on that service would then
 * seem to determine the kind of its workload.
 */
const FAR = new Set(['service_completed_successfully'])

type Value = string | number | boolean

function byType(value: ScalarTree['value']): readonly Value[] {
  switch (typeof value) {
    case 'boolean':
      return [!value]
    case 'number':
      return [value + 1, value * 2]
    case 'string':
      return byText(value)
    default:
      return []
  }
}

function byText(text: string): readonly Value[] {
  if (text === 'tcp') return ['udp']
  if (text === 'true' || text === 'false') return [String(text === 'false')]
  if (/^\d+(\.\d+)?$/.test(text)) return [String(Number(text) * 2), String(Number(text) + 1), `${text}1`]
  if (/^(\d+(\.\d+)?(h|m|s|ms|us|ns))+$/.test(text)) return [text === '1h1m1s' ? '2h2m2s' : '1h1m1s', `${text}x`]
  const other = text.replaceAll(/\d+/g, digits => String(Number(digits) + 1))
  const longer = [`${text}x`, `x${text}`]
  // Each number of a user, an address or a range is a part of its own.
  if (/^\d+([:./-]\d+)+$/.test(text)) return [other, ...longer]
  return other === text ? longer : [...longer, other]
}

/**
 * Returns the scalar with another value at the same position. It has no variables, and no part of it corresponds to a
 * part of the source.
 */
function toScalar({ kind, span, type }: ScalarTree, value: Value): ScalarTree {
  return { kind, span, type: typeof value === 'string' ? 'string' : type, value }
}
