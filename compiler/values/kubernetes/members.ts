/**
 * The members of `x-kubernetes` of a service. Each member adds fields to a Kubernetes object of the service, or to a
 * part of an object.
 */
export const KUBERNETES_MEMBERS = [
  ...(['pod', 'container', 'workload', 'service', 'route', 'claim', 'serviceAccount'] as const),
] as const
export type KubernetesMember = (typeof KUBERNETES_MEMBERS)[number]
