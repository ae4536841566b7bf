import { createHash } from 'node:crypto'

/** The first digits of the SHA-256 of a text, in hex. */
export function shortHash(content: string | Uint8Array, length = 8): string {
  return createHash('sha256').update(content).digest('hex').slice(0, length)
}

/** True if a text is a DNS label (RFC 1123): at most 63 of `a-z0-9-`, no hyphen at either end. */
export const isDnsLabel = (text: string): boolean => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)

/** True if a text is a DNS subdomain (RFC 1123): labels joined by dots, at most 253 characters. */
export const isDnsSubdomain = (text: string): boolean => text.length <= 253 && text.split('.').every(isDnsLabel)

/**
 * The DNS label nearest to a text: lower case, other characters become `-`. Longer than `max` (63),
 * it is cut and ends in a hash of the text. With `letterFirst`, as Services need (RFC 1035), `s-`
 * comes before a digit.
 */
export function toDnsLabel(name: string, options: { max?: number; letterFirst?: boolean } = {}): string {
  const { max = 63, letterFirst = false } = options
  const slug = trim(name.toLowerCase().replace(/[^a-z0-9]+/g, '-')) || `x-${shortHash(name, 5)}`
  const label = letterFirst && /^[0-9]/.test(slug) ? `s-${slug}` : slug
  return label.length <= max ? label : `${trim(label.slice(0, max - 6))}-${shortHash(name, 5)}`
}

const trim = (text: string): string => text.replace(/^-+|-+$/g, '')
