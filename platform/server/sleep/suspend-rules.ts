import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { isManagedByArgoCd, isManagedByFlux } from '../../../environment/plan/managed-by.ts'
import { isTaken } from '../../../environment/record/up-record.ts'
import type { RestingKind, RestingObject } from '../../records/asleep.ts'

/** Class of sleeping Ingresses. No controller serves it, so requests for their hosts reach the platform. */
const ASLEEP_CLASS = 'devctl-asleep'
/**
 * Deprecated annotation with the class of an Ingress:
 * https://kubernetes.io/docs/concepts/services-networking/ingress/#deprecated-annotation
 */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'
/** Maximum length of an annotation value that is remembered: the maximum length of a name. */
const LONGEST = 253
/**
 * Annotation that pauses the autoscaling of a ScaledObject:
 * https://keda.sh/docs/latest/concepts/scaling-deployments/#pausing-autoscaling
 */
const PAUSED = 'autoscaling.keda.sh/paused-replicas'

type Patch = Readonly<Record<string, unknown>>
type Fields = Readonly<Record<string, unknown>>

/** Rule for putting objects of a kind to sleep and waking them. */
export interface SuspendRule<K extends RestingKind = RestingKind> {
  readonly apiVersion: string
  readonly kind: K
  /** Returns the values to remember; undefined for an object that is already asleep, or was never active. */
  remember(live: KubeObject): Extract<RestingObject, { kind: K }> | undefined
  rest(one: Extract<RestingObject, { kind: K }>): Patch
  wake(one: Extract<RestingObject, { kind: K }>): Patch
}

const specOf = (live: KubeObject) => (live['spec'] ?? {}) as Fields
const named = <K extends RestingKind>(kind: K, { metadata }: KubeObject) => ({
  kind,
  name: metadata.name,
  uid: metadata.uid ?? '',
})

const replicasOf = (live: KubeObject): number => {
  const { replicas = 1 } = specOf(live)
  return typeof replicas === 'number' ? replicas : 1
}

const deployments: SuspendRule<'Deployment'> = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  remember(live) {
    const replicas = replicasOf(live)
    return replicas > 0 ? { ...named('Deployment', live), replicas } : undefined
  },
  rest: () => ({ spec: { replicas: 0 } }),
  wake: ({ replicas }) => ({ spec: { replicas } }),
}

const statefulSets: SuspendRule<'StatefulSet'> = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  remember(live) {
    const replicas = replicasOf(live)
    const { whenScaled } = (specOf(live)['persistentVolumeClaimRetentionPolicy'] ?? {}) as Fields
    if (replicas === 0) return undefined
    return { ...named('StatefulSet', live), replicas, ...(whenScaled === 'Delete' && { deletesClaims: true }) }
  },
  // Volume claims are retained, because sleep deletes no data.
  rest: ({ deletesClaims }) => ({ spec: { replicas: 0, ...(deletesClaims && whenScaled('Retain')) } }),
  wake: ({ replicas, deletesClaims }) => ({ spec: { replicas, ...(deletesClaims && whenScaled('Delete')) } }),
}
const whenScaled = (value: 'Retain' | 'Delete') => ({ persistentVolumeClaimRetentionPolicy: { whenScaled: value } })

const cronJobs: SuspendRule<'CronJob'> = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  remember: live => (specOf(live)['suspend'] === true ? undefined : named('CronJob', live)),
  rest: () => ({ spec: { suspend: true } }),
  wake: () => ({ spec: { suspend: false } }),
}

/**
 * Rule for KEDA's ScaledObjects, which have to be paused because KEDA scales up from zero. A HorizontalPodAutoscaler
 * needs no rule: it does not scale up from zero, and resumes after the wake.
 */
const scaledObjects: SuspendRule<'ScaledObject'> = {
  apiVersion: 'keda.sh/v1alpha1',
  kind: 'ScaledObject',
  remember(live) {
    const paused = live.metadata.annotations?.[PAUSED]
    if (paused === '0') return undefined
    return { ...named('ScaledObject', live), ...(paused !== undefined && { paused }) }
  },
  rest: () => ({ metadata: { annotations: { [PAUSED]: '0' } } }),
  wake: ({ paused = null }) => ({ metadata: { annotations: { [PAUSED]: paused } } }),
}

const ingresses: SuspendRule<'Ingress'> = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  remember(live) {
    const { ingressClassName: name } = specOf(live)
    const annotation = live.metadata.annotations?.[CLASS_ANNOTATION]
    if (name === ASLEEP_CLASS) return undefined
    return {
      ...named('Ingress', live),
      ...(typeof name === 'string' && { class: name }),
      ...(annotation !== undefined && { annotation }),
      hosts: ruleHosts(live),
    }
  },
  rest: one => classes(ASLEEP_CLASS, one.annotation === undefined ? undefined : ASLEEP_CLASS),
  wake: one => classes(one.class ?? null, one.annotation),
}
/** Returns the hosts of an Ingress, without wildcard hosts. */
export function ruleHosts(ingress: KubeObject): readonly string[] {
  const { rules } = specOf(ingress)
  const all = Array.isArray(rules) ? rules.map(rule => (rule as { readonly host?: unknown } | null)?.host) : []
  return all.filter(host => typeof host === 'string').filter(host => /^[a-z0-9.-]+$/.test(host))
}
const classes = (name: string | null, annotation: string | undefined): Patch => ({
  spec: { ingressClassName: name },
  ...(annotation !== undefined && { metadata: { annotations: { [CLASS_ANNOTATION]: annotation } } }),
})

/**
 * Rules in the order in which they are applied: first the rule that stops requests, then the rules for objects that
 * could start workloads again, and then the rules for workloads.
 */
export const SUSPEND_RULES: readonly SuspendRule[] = [
  ingresses,
  cronJobs,
  scaledObjects,
  deployments,
  statefulSets,
].map(
  rule => rule as unknown as SuspendRule, // each is only given its own kind
)

export const ruleOf = (kind: RestingKind): SuspendRule => SUSPEND_RULES.find(one => one.kind === kind)!

/** Annotation whose value is remembered while an object sleeps, by kind. */
const REMEMBERED: Readonly<Record<string, string>> = { Ingress: CLASS_ANNOTATION, ScaledObject: PAUSED }

/** Returns the reason why an object is left awake, as a clause; undefined if it can be put to sleep. */
export function keptAwake(live: KubeObject): string | undefined {
  const name = `\`${live.kind.toLowerCase()}/${live.metadata.name}\``
  if (isManagedByFlux(live)) return `${name} stays awake: Flux keeps it as it is in git`
  if (isManagedByArgoCd(live)) return `${name} stays awake: Argo CD keeps it as it is in git`
  if (isTaken(live)) return `${name} stays as it is: \`devctl up\` has taken its place`
  // The stored values are limited in length, and Kubernetes does not limit the length of these annotations.
  const key = REMEMBERED[live.kind]
  if (key !== undefined && (live.metadata.annotations?.[key] ?? '').length > LONGEST)
    return `${name} stays as it is: \`${key}\` has more than ${LONGEST} characters`
  return undefined
}
