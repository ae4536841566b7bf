/**
 * What sleeping has changed in a namespace, with the values from before: an annotation of the
 * Namespace, which its members cannot write.
 */
export type RestingObject =
  | { readonly kind: 'Deployment'; readonly name: string; readonly uid: string; readonly replicas: number }
  | {
      readonly kind: 'StatefulSet'
      readonly name: string
      readonly uid: string
      readonly replicas: number
      /** Its claims would have been deleted. */
      readonly deletesClaims?: true
    }
  | { readonly kind: 'CronJob'; readonly name: string; readonly uid: string }
  | {
      readonly kind: 'ScaledObject'
      readonly name: string
      readonly uid: string
      /** The annotation by which KEDA is paused, where it had one. */
      readonly paused?: string
    }
  | {
      readonly kind: 'Ingress'
      readonly name: string
      readonly uid: string
      readonly class?: string
      /** The annotation that was used before there were classes, where it had one. */
      readonly annotation?: string
    }
export type RestingKind = RestingObject['kind']

/** Annotations of a Namespace: what rests in it, and when it was last woken (RFC 3339). */
export const ASLEEP = 'dev.platform/asleep'
export const WOKEN = 'dev.platform/woken'
/** Of one that sleeps: its ingress controller serves its routes all the same, so that its pages do not wake it. */
export const UNFOLLOWED = 'dev.platform/routes-unfollowed'

/** More than a quota allows; what is above it is not taken from an annotation. */
const MOST = 1000

export const fromResting = (objects: readonly RestingObject[]): string => JSON.stringify(objects)

/** What can be read of it: an object with a value that nobody has written is left out. */
export function toResting(text: string | undefined): readonly RestingObject[] {
  if (text === undefined) return []
  try {
    const found: unknown = JSON.parse(text)
    return Array.isArray(found) ? found.slice(0, MOST).filter(isResting) : []
  } catch {
    return []
  }
}

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
      return isTextOrNone('class') && isTextOrNone('annotation')
    default:
      return false
  }
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) > 0 && Number(value) <= 10_000
