import { isDnsLabel, shortHash } from '../values/dns-name.ts'

/** True if a text is a valid Service name: a DNS label that starts with a letter (RFC 1035). */
export const isServiceName = (text: string): boolean => /^[a-z]/.test(text) && isDnsLabel(text)

/**
 * Converts a text to lower case and replaces characters that a DNS label does not allow with `-`. The result may be
 * empty or too long.
 */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')

/** Truncates a name to `max` characters; a truncated name ends in a hash of the full name. */
export function cutName(name: string, max: number): string {
  if (name.length <= max) return name
  return `${name.slice(0, max - 9).replace(/[-.]+$/, '')}-${shortHash(name)}`
}

/** Returns the DNS label closest to a text, at most `max` characters long. */
export function toDnsLabel(text: string, max = 63): string {
  return cutName(slug(text) || `x-${shortHash(text, 5)}`, max)
}

/** Returns the Service name closest to a text: a DNS label, prefixed with `s-` if it does not start with a letter. */
export function toServiceName(text: string, max = 63): string {
  const label = slug(text) || shortHash(text, 5)
  return cutName(/^[a-z]/.test(label) ? label : `s-${label}`, max)
}

/** Returns the DNS subdomain closest to a text, keeping its dots. */
export function toDnsSubdomain(text: string, max = 253): string {
  const parts = text.split('.').map(slug).filter(Boolean)
  return cutName(parts.join('.') || `x-${shortHash(text, 5)}`, max)
}

/**
 * Returns a distinct name for each key. A key that is a valid name stays unchanged. If several keys would get the same
 * name, each key that differs from that name gets a name that ends in a hash of the key, so that the result does not
 * depend on the order of the keys.
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
    names.set(key, hashedName(name, key, max))
  }
  return names
}

/** Returns the Kubernetes name of each service, by its key in the Compose file. */
export const serviceNames = (keys: Iterable<string>): ReadonlyMap<string, string> =>
  distinctNames(keys, key => (isServiceName(key) ? key : toServiceName(key)), 63)

/**
 * Renames objects so that no two have the same name. The first object with a name keeps the name. For later objects, a
 * hash of the object's key is appended to the name.
 */
export function renameRepeated<T extends { readonly name: string }>(
  objects: readonly T[],
  keyOf: (object: T) => string,
  max: number,
): readonly T[] {
  const taken = new Set<string>()
  return objects.map(object => {
    const name = taken.has(object.name) ? hashedName(object.name, keyOf(object), max) : object.name
    taken.add(object.name)
    return { ...object, name }
  })
}

const hashedName = (name: string, key: string, max: number): string =>
  `${name.slice(0, max - 6).replace(/[-.]+$/, '')}-${shortHash(key, 5)}`
