import { createHash } from 'node:crypto'
import type { HookForge, SentHook } from './webhook-signature.ts'

/**
 * Digests that are remembered for one webhook; each delivery has two. GitHub and Gitea do not sign the time of a
 * delivery, so an older one counts again. It only makes the platform ask the forge for the state of a request.
 */
export const DELIVERIES = 512

/** The result of a delivery that is signed with the secret of its webhook. */
export const DELIVERY_RESULTS = ['accepted', 'ignored', 'refused'] as const
export type DeliveryResult = (typeof DELIVERY_RESULTS)[number]

const IDS: Readonly<Record<HookForge, readonly string[]>> = {
  github: ['x-github-delivery'],
  gitea: ['x-gitea-delivery', 'x-forgejo-delivery', 'x-github-delivery'],
  gitlab: ['webhook-id', 'idempotency-key'],
}

/**
 * Identifies a delivery by its id and its content. Most forges do not sign the header with the id, so an attacker who
 * replays a delivery can change the id. The body contains times, and no two events have the same body.
 */
export function deliveryKeys(forge: HookForge, { headers, body }: SentHook): readonly string[] {
  const [id] = IDS[forge].flatMap(name => (typeof headers[name] === 'string' ? [headers[name]] : []))
  return [...(id === undefined || id === '' ? [] : [digest('id', Buffer.from(id))]), digest('body', body)]
}

/** The digests to remember after a new delivery; undefined if it was delivered before. The oldest are dropped. */
export function remember(seen: readonly string[], keys: readonly string[]): readonly string[] | undefined {
  if (keys.some(key => seen.includes(key))) return undefined
  return [...seen, ...keys].slice(-DELIVERIES)
}

const EVENTS: Readonly<Record<HookForge, readonly string[]>> = {
  github: ['x-github-event'],
  gitea: ['x-gitea-event', 'x-forgejo-event', 'x-github-event'],
  gitlab: ['x-gitlab-event'],
}
/** Names of events: `pull_request`, `Merge Request Hook`. Anything else is not shown. */
const EVENT = /^[A-Za-z][\w .-]{0,59}$/

/** The name of the event of a delivery, for display only: forges do not sign the header. */
export function eventOf(forge: HookForge, { headers }: Pick<SentHook, 'headers'>): string | undefined {
  return EVENTS[forge]
    .flatMap(name => {
      const value = headers[name]
      return typeof value === 'string' && EVENT.test(value) ? [value] : []
    })
    .at(0)
}

/**
 * Returns 96 bits of a hash. They are enough: without the secret, no attacker can produce a collision that gets this
 * far.
 */
const digest = (what: 'id' | 'body', bytes: Uint8Array): string =>
  createHash('sha256').update(`${what}\0`).update(bytes).digest('base64url').slice(0, 16)
