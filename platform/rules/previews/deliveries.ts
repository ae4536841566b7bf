import { createHash } from 'node:crypto'
import type { HookForge, SentHook } from './webhook-signature.ts'

/**
 * Maximum number of digests that are remembered for one webhook; each delivery has two digests. GitHub and Gitea do not
 * sign the time of a delivery, so a replayed delivery is accepted once its digests are forgotten. Such a delivery only
 * makes the platform query the forge for the state of a pull request.
 */
export const DELIVERIES = 512

/** The results of a delivery that is signed with the secret of its webhook. */
export const DELIVERY_RESULTS = ['accepted', 'ignored', 'refused'] as const
export type DeliveryResult = (typeof DELIVERY_RESULTS)[number]

const IDS: Readonly<Record<HookForge, readonly string[]>> = {
  github: ['x-github-delivery'],
  gitea: ['x-gitea-delivery', 'x-forgejo-delivery', 'x-github-delivery'],
  gitlab: ['webhook-id', 'idempotency-key'],
}

/**
 * Returns the digests that identify a delivery: of its id, if there is one, and of its body. Most forges do not sign
 * the header with the id, so an attacker who replays a delivery can change the id. The body contains times, so no two
 * events have the same body.
 */
export function deliveryKeys(forge: HookForge, { headers, body }: SentHook): readonly string[] {
  const [id] = IDS[forge].flatMap(name => (typeof headers[name] === 'string' ? [headers[name]] : []))
  return [...(id === undefined || id === '' ? [] : [digest('id', Buffer.from(id))]), digest('body', body)]
}

/**
 * Returns the digests to remember after a new delivery: the previous ones and those of the delivery, without the oldest
 * if there are too many. Returns undefined if the delivery was seen before.
 */
export function remember(seen: readonly string[], keys: readonly string[]): readonly string[] | undefined {
  if (keys.some(key => seen.includes(key))) return undefined
  return [...seen, ...keys].slice(-DELIVERIES)
}

const EVENTS: Readonly<Record<HookForge, readonly string[]>> = {
  github: ['x-github-event'],
  gitea: ['x-gitea-event', 'x-forgejo-event', 'x-github-event'],
  gitlab: ['x-gitlab-event'],
}
/** Names of events, such as `pull_request` or `Merge Request Hook`. Other values are not shown. */
const EVENT = /^[A-Za-z][\w .-]{0,59}$/

/**
 * Returns the event name of a delivery; undefined if there is no valid name. The name is for display only, because
 * forges do not sign the header.
 */
export function eventOf(forge: HookForge, { headers }: Pick<SentHook, 'headers'>): string | undefined {
  return EVENTS[forge]
    .flatMap(name => {
      const value = headers[name]
      return typeof value === 'string' && EVENT.test(value) ? [value] : []
    })
    .at(0)
}

/**
 * Returns 96 bits of a hash, in base64url. This length is enough: only deliveries with a valid signature are hashed, so
 * an attacker cannot search for collisions.
 */
const digest = (what: 'id' | 'body', bytes: Uint8Array): string =>
  createHash('sha256').update(`${what}\0`).update(bytes).digest('base64url').slice(0, 16)
