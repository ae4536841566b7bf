import { createHash } from 'node:crypto'
import type { HookForge, SentHook } from './webhook-signature.ts'

/** Digests that are remembered of one webhook. A delivery has two. */
export const DELIVERIES = 512

const IDS: Readonly<Record<HookForge, readonly string[]>> = {
  github: ['x-github-delivery'],
  gitea: ['x-gitea-delivery', 'x-forgejo-delivery', 'x-github-delivery'],
  gitlab: ['webhook-id', 'idempotency-key'],
}

/**
 * By what a delivery is known again: its id, and what it says. The id is in a header that most forges do not
 * sign, so whoever sends an old delivery once more can give it another one; the body has times in it, and no two
 * events have the same.
 */
export function deliveryKeys(forge: HookForge, { headers, body }: SentHook): readonly string[] {
  const [id] = IDS[forge].flatMap(name => (typeof headers[name] === 'string' ? [headers[name]] : []))
  return [...(id === undefined || id === '' ? [] : [digest('id', Buffer.from(id))]), digest('body', body)]
}

/** What is remembered together with a new delivery; undefined where it was here before. Those of long ago are forgotten. */
export function remember(seen: readonly string[], keys: readonly string[]): readonly string[] | undefined {
  if (keys.some(key => seen.includes(key))) return undefined
  return [...seen, ...keys].slice(-DELIVERIES)
}

/** 96 bits: nobody who could make two of the same without the secret gets as far as this. */
const digest = (what: 'id' | 'body', bytes: Uint8Array): string =>
  createHash('sha256').update(`${what}\0`).update(bytes).digest('base64url').slice(0, 16)
