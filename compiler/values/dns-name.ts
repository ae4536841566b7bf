import { createHash } from 'node:crypto'

/** Returns the first `length` hex digits of the SHA-256 hash of a content. */
export function shortHash(content: string | Uint8Array, length = 8): string {
  return createHash('sha256').update(content).digest('hex').slice(0, length)
}

/** True if a text is a DNS label (RFC 1123): at most 63 characters of `a-z0-9-`, without a hyphen at either end. */
export const isDnsLabel = (text: string): boolean => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)

/** True if a text is a DNS subdomain (RFC 1123): labels joined by dots, at most 253 characters. */
export const isDnsSubdomain = (text: string): boolean => text.length <= 253 && text.split('.').every(isDnsLabel)

/**
 * Returns the DNS label closest to a text: in lower case, with other characters replaced with `-`. A label longer than
 * `max` (63 by default) is truncated and ends in a hash of the text. With `letterFirst`, which Services need (RFC
 * 1035), a label that would start with a digit gets the prefix `s-`.
 */
export function toDnsLabel(name: string, options: { max?: number; letterFirst?: boolean } = {}): string {
  const { max = 63, letterFirst = false } = options
  const slug = trim(name.toLowerCase().replace(/[^a-z0-9]+/g, '-')) || `x-${shortHash(name, 5)}`
  const label = letterFirst && /^[0-9]/.test(slug) ? `s-${slug}` : slug
  return label.length <= max ? label : `${trim(label.slice(0, max - 6))}-${shortHash(name, 5)}`
}

const trim = (text: string): string => text.replace(/^-+|-+$/g, '')
