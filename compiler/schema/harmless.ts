import { get, type Tree } from '../text/tree.ts'
import type { Judge } from './shape.ts'

/** The value of a scalar, or undefined for anything else. */
const scalar = (tree: Tree | undefined) => (tree?.kind === 'scalar' ? tree.value : undefined)

/** The switch is off. */
export const isFalse: Judge = value => scalar(value) === false

/** The switch is on. */
export const isTrue: Judge = value => scalar(value) === true

/** A number that asks for nothing, as a number or in text. */
export const isZero: Judge = value => Number(scalar(value) ?? 1) === 0

/** No limit. */
export const isUnlimited: Judge = value => Number(scalar(value) ?? 1) <= 0

/** Nothing in it. */
export const isEmpty: Judge = value =>
  value.kind === 'map'
    ? value.entries.size === 0
    : value.kind === 'seq'
      ? value.items.length === 0
      : value.value === '' || value.value === null

/** One of some words. */
export const isOneOf =
  (...words: readonly string[]): Judge =>
  value =>
    words.includes(String(scalar(value)))

/** As much memory and swap together as memory alone: no swap, which is what a Pod gets. Zero means not set. */
export const isMemoryLimit: Judge = (value, [service]) => {
  const total = String(scalar(value))
  if (total === '0') return true
  const limits = [get(service, 'mem_limit'), get(service, 'deploy', 'resources', 'limits', 'memory')]
  return limits.some(limit => limit !== undefined && String(scalar(limit)) === total)
}

/** In a hook: the loader gives it what its service has; only what the hook itself says is worth a word. */
export const isInherited: Judge = (value, [, service], key) => {
  const own = service?.entries.get(key)?.value.span
  return own !== undefined && own.file === value.span.file && own.start === value.span.start
}
