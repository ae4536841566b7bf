import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'

const RBAC = 'rbac.authorization.k8s.io'

/** What people may do in the namespaces that they are members of: Kubernetes' own `edit` and `view`, with what operators add to them. */
export const memberRoles = (): readonly KubeObject[] => [
  aggregated('devctl-developer', ['edit', 'view']),
  aggregated('devctl-viewer', ['view']),
]

const aggregated = (name: string, to: readonly string[]): KubeObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  aggregationRule: {
    clusterRoleSelectors: to.map(one => ({ matchLabels: { [`${RBAC}/aggregate-to-${one}`]: 'true' } })),
  },
})
