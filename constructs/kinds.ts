/** A kind of object that devctl makes of a plan. */
export interface Kind {
  readonly apiVersion: string
  readonly kind: string
  /**
   * `needed`: by workloads, and applied before them. `workload`: it runs Pods. `route`: it leads to
   * Services from outside, and is applied when they are ready.
   */
  readonly phase: 'needed' | 'workload' | 'route'
}

const kind = (apiVersion: string, kind: string, phase: Kind['phase'] = 'needed'): Kind => ({ apiVersion, kind, phase })

/**
 * All kinds, in the order in which their objects are applied: a policy stands before what it
 * protects runs, a Service before what looks for it. They are deleted in the reverse order. The
 * order in which they are printed is that of `objects.ts`.
 */
export const KINDS: readonly Kind[] = [
  kind('v1', 'ServiceAccount'),
  kind('rbac.authorization.k8s.io/v1', 'Role'),
  kind('rbac.authorization.k8s.io/v1', 'RoleBinding'),
  kind('networking.k8s.io/v1', 'NetworkPolicy'),
  kind('v1', 'ConfigMap'),
  kind('v1', 'Secret'),
  kind('external-secrets.io/v1', 'ExternalSecret'),
  kind('v1', 'PersistentVolumeClaim'),
  kind('v1', 'Service'),
  kind('apps/v1', 'Deployment', 'workload'),
  kind('apps/v1', 'StatefulSet', 'workload'),
  kind('apps/v1', 'DaemonSet', 'workload'),
  kind('batch/v1', 'Job', 'workload'),
  kind('networking.k8s.io/v1', 'Ingress', 'route'),
  kind('gateway.networking.k8s.io/v1', 'HTTPRoute', 'route'),
]

/** The kinds of a phase. */
export const kindsOf = (phase: Kind['phase']): readonly Kind[] => KINDS.filter(one => one.phase === phase)

const phases = new Map(KINDS.map(({ kind, phase }) => [kind, phase]))
const ranks = new Map(KINDS.map(({ kind }, rank) => [kind, rank]))

/** True if an object runs Pods. */
export const isWorkload = ({ kind }: { readonly kind: string }): boolean => phases.get(kind) === 'workload'

/** True if an object makes Services reachable from outside. */
export const isRoute = ({ kind }: { readonly kind: string }): boolean => phases.get(kind) === 'route'

/** The place of a kind in the order of `KINDS`; undefined for kinds that are not ours. */
export const rankOf = (kind: string): number | undefined => ranks.get(kind)
