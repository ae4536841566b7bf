import type { Loading } from './reference.ts'

/**
 * The differences between what the reference made of a project and what we made of it, one a line; none when both
 * refuse it.
 */
export function differences(reference: Loading, ours: Loading): readonly string[] {
  if ('error' in reference && 'error' in ours) return []
  if ('error' in reference) return [`only the reference refuses it: ${reference.error.trim()}`]
  if ('error' in ours) return [`only we refuse it: ${ours.error.trim()}`]
  return compare(reference.model, ours.model, '')
}

/** Lists whose order means nothing: the reference sorts some of them by text. */
const UNORDERED = /\.(cap_add|cap_drop|expose|ports|configs|secrets|volumes|security_opt|group_add|devices)$/

function compare(expected: unknown, found: unknown, path: string): readonly string[] {
  if (Object.is(expected, found)) return []
  if (Array.isArray(expected) && Array.isArray(found)) {
    const [left, right] = UNORDERED.test(path) ? [sorted(expected), sorted(found)] : [expected, found]
    const length = Math.max(left.length, right.length)
    return Array.from({ length }, (_, index) => compare(left[index], right[index], `${path}[${index}]`)).flat()
  }
  if (isObject(expected) && isObject(found)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(found)])].sort()
    return keys.flatMap(key => compare(expected[key], found[key], path === '' ? key : `${path}.${key}`))
  }
  return [`${path}: the reference has ${show(expected)}, we have ${show(found)}`]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const sorted = (values: readonly unknown[]) =>
  values
    .map(value => ({ value, text: stable(value) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ value }) => value)

/** JSON with keys in order. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}

function show(value: unknown): string {
  const text = JSON.stringify(value)
  if (text === undefined) return 'nothing'
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
