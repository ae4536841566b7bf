import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { KEEPER, PULL_SECRET } from '../records/names.ts'

const RBAC = 'rbac.authorization.k8s.io'

/** What people may do in the namespaces that they are members of: Kubernetes' own `edit` and `view`, with what operators add to them. */
export const memberRoles = (): readonly KubeObject[] => [
  aggregated('devctl-developer', ['edit', 'view']),
  aggregated('devctl-viewer', ['view']),
]

/**
 * What the platform itself may do in a managed namespace: see what runs, put it to sleep, and let it pull images. What it
 * may change of it an admission policy narrows down (`fence.ts`).
 */
export const keeperRole = (): KubeObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name: KEEPER },
  rules: [
    { apiGroups: ['apps'], resources: ['deployments', 'statefulsets'], verbs: CHANGE },
    { apiGroups: ['batch'], resources: ['cronjobs'], verbs: CHANGE },
    { apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs: CHANGE },
    // Whether one has a host that is to be that of a new namespace.
    { apiGroups: ['gateway.networking.k8s.io'], resources: ['httproutes', 'grpcroutes', 'tlsroutes'], verbs: ['list'] },
    { apiGroups: ['keda.sh'], resources: ['scaledobjects'], verbs: CHANGE },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list'] },
    // The login of Pods for the registry; no other Secret can be written, and none read.
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
