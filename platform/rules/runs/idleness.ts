/**
 * Milliseconds without activity until a namespace is put to sleep, or deleted; 0 means never. Previews have values of
 * their own; `namespace` applies to personal and all other namespaces.
 */
export interface Idleness {
  readonly sleep: { readonly namespace: number; readonly preview: number }
  readonly delete: { readonly namespace: number; readonly preview: number }
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Default values of the idle times (design, section 5). */
export const IDLENESS: Idleness = {
  sleep: { namespace: 3 * HOUR, preview: HOUR },
  delete: { namespace: 14 * DAY, preview: 7 * DAY },
}

/** The properties of a namespace that decide when it is idle. */
export interface IdleNamespace {
  readonly kind: 'namespace' | 'personal' | 'preview'
  readonly status: 'Active' | 'Sleeping' | 'Waking' | 'Deleting' | 'DeleteFailed'
  readonly isPersistent?: boolean
  /** Time of the last activity (RFC 3339). */
  readonly lastActive: string
  /** RFC 3339 time at which the namespace expires, even if it is in use; absent if it does not expire. */
  readonly expires?: string
}

/**
 * Decides whether a namespace stays, is put to sleep, or is deleted. An expired namespace is deleted. A persistent
 * namespace that has not expired stays. A personal namespace is never deleted. A time that cannot be parsed changes
 * nothing.
 */
export function whenIdle(one: IdleNamespace, now: number, idleness: Idleness): 'stay' | 'sleep' | 'delete' {
  const isLiving = one.status !== 'Deleting' && one.status !== 'DeleteFailed'
  if (isLiving && one.kind !== 'personal' && Date.parse(one.expires ?? '') <= now) return 'delete'
  const idle = now - Date.parse(one.lastActive)
  if (one.isPersistent || !(idle >= 0)) return 'stay'
  if (one.status !== 'Active' && one.status !== 'Sleeping') return 'stay'
  const kind = one.kind === 'preview' ? 'preview' : 'namespace'
  const isOver = (limit: number) => limit > 0 && idle >= limit
  if (one.kind !== 'personal' && isOver(idleness.delete[kind])) return 'delete'
  return one.status === 'Active' && isOver(idleness.sleep[kind]) ? 'sleep' : 'stay'
}
