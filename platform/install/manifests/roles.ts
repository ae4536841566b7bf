import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { KEEPER, PULL_SECRET } from '../../records/names.ts'

const RBAC = 'rbac.authorization.k8s.io'

/**
 * Returns the roles of members in their namespaces: Kubernetes' own `edit` and `view`, with the rules that operators
 * add to them.
 */
export const memberRoles = (): readonly KubeObject[] => [
  aggregated('devctl-developer', ['edit', 'view']),
  aggregated('devctl-viewer', ['view']),
]

/**
 * Returns the role of the platform in a managed namespace: it may read the workloads, put them to sleep, and create
 * pull credentials. An admission policy restricts the changes further (`fence.ts`).
 */
export const keeperRole = (): KubeObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name: KEEPER },
  rules: [
    { apiGroups: ['apps'], resources: ['deployments', 'statefulsets'], verbs: CHANGE },
    { apiGroups: ['batch'], resources: ['cronjobs'], verbs: CHANGE },
    { apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs: CHANGE },
    // Needed to check whether an existing route has a host of a new namespace.
    { apiGroups: ['gateway.networking.k8s.io'], resources: ['httproutes', 'grpcroutes', 'tlsroutes'], verbs: ['list'] },
    { apiGroups: ['keda.sh'], resources: ['scaledobjects'], verbs: CHANGE },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list'] },
    // The pull credentials for the registry. No other Secrets can be written, and none can be read.
    { apiGroups: [''], resources: ['secrets'], resourceNames: [PULL_SECRET], verbs: ['create', 'patch'] },
    { apiGroups: [''], resources: ['serviceaccounts'], resourceNames: ['default'], verbs: ['get', 'create', 'patch'] },
  ],
})
const CHANGE = ['get', 'list', 'patch']

const aggregated = (name: string, to: readonly string[]): KubeObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  aggregationRule: {
    clusterRoleSelectors: to.map(one => ({ matchLabels: { [`${RBAC}/aggregate-to-${one}`]: 'true' } })),
  },
})
