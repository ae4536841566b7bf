import { isDnsLabel, shortHash } from '../values/dns-name.ts'

/** True if a text may name a Service: a DNS label that starts with a letter (RFC 1035). */
export const isServiceName = (text: string): boolean => /^[a-z]/.test(text) && isDnsLabel(text)

/** Lower case, with everything that no DNS label has as `-`; may be empty or too long. */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')

/** A name cut to `max` characters; what is cut off leaves a hash of the whole. */
export function cutName(name: string, max: number): string {
  if (name.length <= max) return name
  return `${name.slice(0, max - 9).replace(/[-.]+$/, '')}-${shortHash(name)}`
}

/** The DNS label nearest to a text, at most `max` characters long. */
export function toDnsLabel(text: string, max = 63): string {
  return cutName(slug(text) || `x-${shortHash(text, 5)}`, max)
}

/** The Service name nearest to a text: a DNS label with `s-` before a digit. */
export function toServiceName(text: string, max = 63): string {
  const label = slug(text) || shortHash(text, 5)
  return cutName(/^[a-z]/.test(label) ? label : `s-${label}`, max)
}

/** The DNS subdomain nearest to a text: dots stay. */
export function toDnsSubdomain(text: string, max = 253): string {
  const parts = text.split('.').map(slug).filter(Boolean)
  return cutName(parts.join('.') || `x-${shortHash(text, 5)}`, max)
}

/**
 * A name for each key, all different. A key that is its own name keeps it; of keys that had to
 * change, those that collide with another get a hash of the key. So the result does not depend on
 * the order of the keys.
 */
export function distinctNames(
  keys: Iterable<string>,
  toName: (key: string) => string,
  max: number,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const wanted = new Map<string, number>()
  for (const key of keys) {
    const name = toName(key)
    names.set(key, name)
    wanted.set(name, (wanted.get(name) ?? 0) + 1)
  }
  for (const [key, name] of names) {
    if (name === key || wanted.get(name) === 1) continue
    names.set(key, `${name.slice(0, max - 6).replace(/[-.]+$/, '')}-${shortHash(key, 5)}`)
  }
  return names
}
