/** Path of a field in an object, as a list of keys. */
export type FieldPath = readonly string[]

/** Annotation with which Flux leaves an object unchanged if the value is `disabled`. */
const FLUX_ANNOTATION = 'kustomize.toolkit.fluxcd.io/reconcile'

/** Field with the number of Pods of an application. */
export const REPLICAS: FieldPath = ['spec', 'replicas']
/** Field that suspends a Job or CronJob. */
export const SUSPEND: FieldPath = ['spec', 'suspend']
/** Field with the policy for the claims of a StatefulSet that is scaled down. */
export const WHEN_SCALED: FieldPath = ['spec', 'persistentVolumeClaimRetentionPolicy', 'whenScaled']
/** Annotation that controls whether Flux sets the fields of the object. */
export const RECONCILE: FieldPath = ['metadata', 'annotations', FLUX_ANNOTATION]

/** Number of Pods that no cluster exceeds: https://kubernetes.io/docs/setup/best-practices/cluster-large/ */
const MOST_PODS = 150_000

/** Returns the path of the field that stops an application of this kind. */
export const scalePath = (kind: string): FieldPath => (kind === 'Job' || kind === 'CronJob' ? SUSPEND : REPLICAS)

/**
 * Returns a clause that explains why `down` cannot restore a value: `up` does not change the field for applications of
 * this kind, or the value is not valid for the field. Undefined if there is no problem. A `value` of null means that
 * the field had no value.
 */
export function fieldProblem(
  kind: string,
  { path, value }: { readonly path: FieldPath; readonly value: unknown },
): string | undefined {
  const rule = rulesOf(kind).find(one => isSamePath(one.path, path))
  const name = `\`${path.join('.')}\``
  if (!rule) return `${name} is not a field that \`up\` changes`
  return value === null || rule.fits(value) ? undefined : `the value of ${name} is not valid`
}

/** Returns true if both paths are the path of the same field. */
export const isSamePath = (a: FieldPath, b: FieldPath): boolean =>
  a.length === b.length && a.every((key, at) => key === b[at])

const rulesOf = (kind: string) => [
  scalePath(kind) === SUSPEND
    ? { path: SUSPEND, fits: (value: unknown) => typeof value === 'boolean' }
    : { path: REPLICAS, fits: isCount },
  ...(kind === 'StatefulSet'
    ? [{ path: WHEN_SCALED, fits: (value: unknown) => value === 'Delete' || value === 'Retain' }]
    : []),
  { path: RECONCILE, fits: (value: unknown) => typeof value === 'string' },
]

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_PODS
