/**
 * The members of `x-kubernetes` of a service. Each adds fields to one of the service's objects, or to a part of one.
 */
export const KUBERNETES_MEMBERS = [
  ...(['pod', 'container', 'workload', 'service', 'route', 'claim', 'serviceAccount'] as const),
] as const
export type KubernetesMember = (typeof KUBERNETES_MEMBERS)[number]
