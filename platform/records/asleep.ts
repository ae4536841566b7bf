/**
 * An object that was changed to put its namespace to sleep, with its previous values. The values are stored in an
 * annotation of the Namespace, which the members of the namespace cannot write.
 */
export type RestingObject =
  | { readonly kind: 'Deployment'; readonly name: string; readonly uid: string; readonly replicas: number }
  | {
      readonly kind: 'StatefulSet'
      readonly name: string
      readonly uid: string
      readonly replicas: number
      /** True if scaling the StatefulSet down would delete its PersistentVolumeClaims. */
      readonly deletesClaims?: true
    }
  | { readonly kind: 'CronJob'; readonly name: string; readonly uid: string }
  | {
      readonly kind: 'ScaledObject'
      readonly name: string
      readonly uid: string
      /** The previous value of the annotation that pauses KEDA, if any. */
      readonly paused?: string
    }
  | {
      readonly kind: 'Ingress'
      readonly name: string
      readonly uid: string
      readonly class?: string
      /** The previous value of the legacy class annotation, which predates the `ingressClassName` field, if any. */
      readonly annotation?: string
      /** The hosts of the Ingress rules. */
      readonly hosts?: readonly string[]
    }
export type RestingKind = RestingObject['kind']

/**
 * Annotation of a Namespace with the objects that are asleep in it. `WOKEN` is the annotation with the time at which
 * the namespace was last woken (RFC 3339).
 */
export const ASLEEP = 'dev.platform/asleep'
export const WOKEN = 'dev.platform/woken'
/**
 * Annotation of a sleeping namespace whose ingress controller still serves its routes, so requests for its pages do not
 * wake it.
 */
export const UNFOLLOWED = 'dev.platform/routes-unfollowed'

/**
 * Annotation of a sleeping namespace whose objects are being put to sleep: the time at which this began (RFC 3339). It
 * is removed when all of them sleep, so a sleep that was interrupted can be recognized.
 */
export const FALLING_ASLEEP = 'dev.platform/falling-asleep'

/**
 * Maximum number of entries read from the annotation; further entries are ignored. Quotas allow fewer objects in a
 * namespace.
 */
const MOST = 1000

export const fromResting = (objects: readonly RestingObject[]): string => JSON.stringify(objects)

/** Parses the annotation. Entries with invalid values are skipped. */
export function toResting(text: string | undefined): readonly RestingObject[] {
  if (text === undefined) return []
  try {
    const found: unknown = JSON.parse(text)
    return Array.isArray(found) ? found.slice(0, MOST).filter(isResting) : []
  } catch {
    return []
  }
}

/** Returns the hosts whose routes are asleep. */
export const restingHosts = (objects: readonly RestingObject[]): ReadonlySet<string> =>
  new Set(objects.flatMap(one => (one.kind === 'Ingress' ? (one.hosts ?? []) : [])))

function isResting(value: unknown): value is RestingObject {
  const one = (value ?? {}) as Readonly<Record<string, unknown>>
  const isText = (key: string) => typeof one[key] === 'string' && one[key] !== ''
  const isTextOrNone = (key: string) => one[key] === undefined || typeof one[key] === 'string'
  if (!isText('name') || !isText('uid')) return false
  switch (one['kind']) {
    case 'Deployment':
      return isCount(one['replicas'])
    case 'StatefulSet':
      return isCount(one['replicas']) && (one['deletesClaims'] === undefined || one['deletesClaims'] === true)
    case 'CronJob':
      return true
    case 'ScaledObject':
      return isTextOrNone('paused')
    case 'Ingress':
      return isTextOrNone('class') && isTextOrNone('annotation') && isListOrNone(one['hosts'])
    default:
      return false
  }
}

const isListOrNone = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.every(one => typeof one === 'string'))
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) > 0 && Number(value) <= 10_000
