/** A kind of object that devctl creates from a plan. */
export interface Kind {
  readonly apiVersion: string
  readonly kind: string
  /**
   * Phase in which objects of this kind are applied. `needed`: before the workloads, which need them. `workload`:
   * objects that run Pods. `route`: objects that route to Services from outside, applied when the workloads are ready.
   */
  readonly phase: 'needed' | 'workload' | 'route'
  /** The field of the spec that selects Pods. Set only for kinds whose objects can apply to several services. */
  readonly podSelector?: 'podSelector' | 'selector'
  /**
   * True if only some applications need this kind and users may not have permission for it. Such kinds have a separate
   * row in the permissions of docs/deploy.md.
   */
  readonly isExtra?: true
}

const kind = (
  apiVersion: string,
  kind: string,
  phase: Kind['phase'] = 'needed',
  more: Pick<Kind, 'podSelector' | 'isExtra'> = {},
): Kind => ({ apiVersion, kind, phase, ...more })

/**
 * All kinds, in the order in which their objects are applied: a policy precedes the Pods that it protects, and a
 * Service precedes the Pods that look it up. Objects are deleted in the reverse order, and printed in the order of
 * `objects.ts`. `test/unit/constructs/kinds.test.ts` compares this table with other code that refers to kinds by name.
 */
export const KINDS: readonly Kind[] = [
  kind('v1', 'ServiceAccount', 'needed', { isExtra: true }),
  kind('rbac.authorization.k8s.io/v1', 'Role', 'needed', { isExtra: true }),
  kind('rbac.authorization.k8s.io/v1', 'RoleBinding', 'needed', { isExtra: true }),
  kind('networking.k8s.io/v1', 'NetworkPolicy', 'needed', { podSelector: 'podSelector' }),
  kind('v1', 'ConfigMap'),
  kind('v1', 'Secret'),
  kind('external-secrets.io/v1', 'ExternalSecret', 'needed', { isExtra: true }),
  kind('v1', 'PersistentVolumeClaim'),
  kind('v1', 'Service'),
  kind('autoscaling/v2', 'HorizontalPodAutoscaler'),
  kind('apps/v1', 'Deployment', 'workload'),
  kind('apps/v1', 'StatefulSet', 'workload'),
  kind('apps/v1', 'DaemonSet', 'workload'),
  kind('batch/v1', 'Job', 'workload'),
  kind('batch/v1', 'CronJob', 'workload'),
  kind('networking.k8s.io/v1', 'Ingress', 'route'),
  kind('gateway.networking.k8s.io/v1', 'HTTPRoute', 'route', { isExtra: true }),
]

/** Returns the kinds of a phase. */
export const kindsOf = (phase: Kind['phase']): readonly Kind[] => KINDS.filter(one => one.phase === phase)

const byName = new Map(KINDS.map((one, rank) => [one.kind, { ...one, rank }]))

/** True if an object runs Pods. */
export const isWorkload = ({ kind }: { readonly kind: string }): boolean => byName.get(kind)?.phase === 'workload'

/** True if an object runs Pods to their end: a Job or a CronJob. */
export const isJob = ({ kind }: { readonly kind: string }): boolean => kind === 'Job' || kind === 'CronJob'

/** True if an object makes Services reachable from outside. */
export const isRoute = ({ kind }: { readonly kind: string }): boolean => byName.get(kind)?.phase === 'route'

/** Returns the field of an object's spec that selects its Pods; undefined for kinds that have no such field. */
export const podSelectorOf = ({ kind }: { readonly kind: string }): Kind['podSelector'] => byName.get(kind)?.podSelector

/** Returns the position of a kind in the order of `KINDS`; undefined for kinds that devctl does not create. */
export const rankOf = (kind: string): number | undefined => byName.get(kind)?.rank
