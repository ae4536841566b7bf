/** Milliseconds without activity; 0: never. Of namespaces that are somebody's own, and others; of previews. */
export interface Idleness {
  readonly sleep: { readonly namespace: number; readonly preview: number }
  readonly delete: { readonly namespace: number; readonly preview: number }
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** What holds unless the settings say otherwise (design, section 5). */
export const IDLENESS: Idleness = {
  sleep: { namespace: 3 * HOUR, preview: HOUR },
  delete: { namespace: 14 * DAY, preview: 7 * DAY },
}

/** What is known of a namespace for it. */
export interface IdleNamespace {
  readonly kind: 'namespace' | 'personal' | 'preview'
  readonly status: 'Active' | 'Sleeping' | 'Waking' | 'Deleting' | 'DeleteFailed'
  readonly isPersistent?: boolean
  /** RFC 3339. */
  readonly lastActive: string
  /** When it ends, whoever uses it: RFC 3339. */
  readonly expires?: string
}

/**
 * What is to become of a namespace that nobody uses. Persistent ones stay as they are, and what is
 * somebody's own place is never deleted; a time that cannot be read is no reason for anything.
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
