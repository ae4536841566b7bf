/** The members of `x-kubernetes` of a service: the objects, or parts of them, whose fields it adds. */
export const KUBERNETES_MEMBERS = [
  ...(['pod', 'container', 'workload', 'service', 'route', 'claim', 'serviceAccount'] as const),
] as const
export type KubernetesMember = (typeof KUBERNETES_MEMBERS)[number]
