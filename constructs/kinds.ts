/** A kind of object that devctl makes of a plan. */
export interface Kind {
  readonly apiVersion: string
  readonly kind: string
  /**
   * `needed`: by workloads, and applied before them. `workload`: it runs Pods. `route`: it leads to
   * Services from outside, and is applied when they are ready.
   */
  readonly phase: 'needed' | 'workload' | 'route'
  /** The field of its spec that selects the Pods it is for, if it may be for several services. */
  readonly podSelector?: 'podSelector' | 'selector'
  /**
   * Only some applications need it, and users may lack the right to it: it has a row of its own in
   * the rights of docs/deploy.md.
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
 * All kinds, in the order in which their objects are applied: a policy stands before what it
 * protects runs, a Service before what looks for it. They are deleted in the reverse order. The
 * order in which they are printed is that of `objects.ts`. What else knows kinds by name is held
 * against this table by `test/unit/constructs/kinds.test.ts`.
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
  kind('apps/v1', 'Deployment', 'workload'),
  kind('apps/v1', 'StatefulSet', 'workload'),
  kind('apps/v1', 'DaemonSet', 'workload'),
  kind('batch/v1', 'Job', 'workload'),
  kind('networking.k8s.io/v1', 'Ingress', 'route'),
  kind('gateway.networking.k8s.io/v1', 'HTTPRoute', 'route', { isExtra: true }),
]

/** The kinds of a phase. */
export const kindsOf = (phase: Kind['phase']): readonly Kind[] => KINDS.filter(one => one.phase === phase)

const byName = new Map(KINDS.map((one, rank) => [one.kind, { ...one, rank }]))

/** True if an object runs Pods. */
export const isWorkload = ({ kind }: { readonly kind: string }): boolean => byName.get(kind)?.phase === 'workload'

/** True if an object makes Services reachable from outside. */
export const isRoute = ({ kind }: { readonly kind: string }): boolean => byName.get(kind)?.phase === 'route'

/** The field of an object's spec that selects its Pods; undefined for kinds that have none. */
export const podSelectorOf = ({ kind }: { readonly kind: string }): Kind['podSelector'] => byName.get(kind)?.podSelector

/** Returns the position of a kind in the order of `KINDS`; undefined for kinds that devctl does not create. */
export const rankOf = (kind: string): number | undefined => byName.get(kind)?.rank
