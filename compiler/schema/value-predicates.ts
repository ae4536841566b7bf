import { type Entry, get, type Tree } from '../text/tree.ts'
import type { ValuePredicate } from './shape.ts'

/** Returns the value of a scalar; undefined for a mapping or a list. */
const scalar = (tree: Tree | undefined) => (tree?.kind === 'scalar' ? tree.value : undefined)

/** True if the value is `false`. */
export const isFalse: ValuePredicate = value => scalar(value) === false

/** True if the value is `true`. */
export const isTrue: ValuePredicate = value => scalar(value) === true

/** True if the value is zero, as a number or as text. */
export const isZero: ValuePredicate = value => Number(scalar(value) ?? 1) === 0

/** True if the number means "no limit", because it is zero or negative. */
export const isUnlimited: ValuePredicate = value => Number(scalar(value) ?? 1) <= 0

/** True if the value is an empty mapping, list or text, or null. */
export const isEmpty: ValuePredicate = value =>
  value.kind === 'map'
    ? value.entries.size === 0
    : value.kind === 'seq'
      ? value.items.length === 0
      : value.value === '' || value.value === null

/** Returns a predicate that is true if the value is one of `words`. */
export const isOneOf =
  (...words: readonly string[]): ValuePredicate =>
  value =>
    words.includes(String(scalar(value)))

/**
 * True if `memswap_limit` is zero, which Docker treats as unset, or equals the memory limit, which means no swap, as in
 * a Pod
 * (https://docs.docker.com/engine/containers/resource_constraints/#--memory-swap-details).
 */
export const isMemoryLimit: ValuePredicate = (value, [service]) => {
  const total = String(scalar(value))
  if (total === '0') return true
  const limits = [get(service, 'mem_limit'), get(service, 'deploy', 'resources', 'limits', 'memory')]
  return limits.some(limit => limit !== undefined && String(scalar(limit)) === total)
}

/**
 * True if a hook inherits the full value of the key from its service. The loss is then reported for the service's key.
 */
export const isInherited: ValuePredicate = (value, [, service], key) => {
  const own = service?.entries.get(key)?.value
  return own !== undefined && isSamePlace(own, value)
}

/** True if two trees and all their members have the same source positions. */
function isSamePlace(one: Tree, other: Tree): boolean {
  if (one.span.file !== other.span.file || one.span.start !== other.span.start) return false
  if (one.kind === 'map' && other.kind === 'map')
    return hasSame([...one.entries.values()].map(toValue), [...other.entries.values()].map(toValue))
  if (one.kind === 'seq' && other.kind === 'seq') return hasSame(one.items, other.items)
  return true
}

const toValue = ({ value }: Entry): Tree => value

const hasSame = (items: readonly Tree[], others: readonly Tree[]): boolean =>
  items.length === others.length && items.every((item, index) => isSamePlace(item, others[index]!))
