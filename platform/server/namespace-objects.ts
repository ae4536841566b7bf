import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { keeperBinding } from '../records/member.ts'
import {
  ALL_PODS,
  BUILD_NAMESPACE,
  INSIDE,
  MANAGED_LABEL,
  OUTSIDE,
  RUNS_NAMESPACE,
  TRAFFIC_LABEL,
  USERS_NAMESPACE,
} from '../records/names.ts'
import { toDns, toOutside } from '../records/network-rules.ts'

/**
 * What is in each namespace of the platform: limits, so that one cannot use up the cluster, and network
 * policies (design, section 5). These close it to other namespaces; the networks of the cluster itself are
 * not part of the world outside. Between its own Pods they leave out those that a Compose file separates.
 */
export function surroundings(
  namespace: string,
  clusterNetworks: readonly string[],
  quota: Readonly<Record<string, string>> = {},
): readonly KubeObject[] {
  const metadata = (name: string) => ({ name, namespace, labels: { [MANAGED_LABEL]: 'true' } })
  return [
    keeperBinding(namespace),
    {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: metadata('devctl'),
      spec: {
        limits: [
          {
            type: 'Container',
            defaultRequest: { cpu: '10m', memory: '32Mi', 'ephemeral-storage': '32Mi' },
            // Of one that says nothing: without a limit, it could use up the node on which others are.
            default: { memory: '2Gi', 'ephemeral-storage': '8Gi' },
            max: { memory: '8Gi', 'ephemeral-storage': '20Gi' },
          },
        ],
      },
    },
    networkPolicy(metadata(ALL_PODS), {
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [{ namespaceSelector: NOT_MANAGED }] }],
      egress: [toDns],
    }),
    networkPolicy(metadata(INSIDE), {
      podSelector: without('separate', 'internal'),
      policyTypes: ['Ingress'],
      ingress: [{ from: [{ podSelector: {} }] }],
    }),
    networkPolicy(metadata(OUTSIDE), {
      podSelector: without('internal'),
      policyTypes: ['Egress'],
      egress: [{ to: [{ podSelector: {} }] }, toOutside(clusterNetworks)],
    }),
    // The last: until the cluster has counted what is there, nothing of these kinds can be made.
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: metadata('devctl'),
      spec: {
        hard: {
          'requests.cpu': '8',
          'requests.memory': '16Gi',
          'limits.memory': '64Gi',
          'requests.storage': '100Gi',
          'requests.ephemeral-storage': '50Gi',
          'limits.ephemeral-storage': '256Gi',
          pods: '100',
          services: '50',
          'services.nodeports': '0',
          'services.loadbalancers': '0',
          ...counts,
          ...quota,
        },
      },
    },
  ]
}

/**
 * What would fill the database of the API server, and the memory of who lists it: objects of all kinds that a developer
 * can make. Each Deployment keeps some ReplicaSets, and each Job its Pods.
 */
const counts: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    100: [
      'daemonsets.apps',
      'deployments.apps',
      'statefulsets.apps',
      'replicationcontrollers',
      'cronjobs.batch',
      'horizontalpodautoscalers.autoscaling',
      'ingresses.networking.k8s.io',
      'networkpolicies.networking.k8s.io',
      'persistentvolumeclaims',
      'poddisruptionbudgets.policy',
      'resourceclaims.resource.k8s.io',
      'resourceclaimtemplates.resource.k8s.io',
      'serviceaccounts',
    ],
    200: ['configmaps', 'leases.coordination.k8s.io', 'secrets', 'jobs.batch'],
    // Those that have ended, too.
    500: ['pods', 'replicasets.apps'],
  }).flatMap(([most, kinds]) => kinds.map(kind => [`count/${kind}`, most])),
)

const networkPolicy = (metadata: KubeObject['metadata'], spec: object): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata,
  spec,
})

/** Pods that a Compose file does not separate so. */
const without = (...values: readonly string[]) => ({
  matchExpressions: [{ key: TRAFFIC_LABEL, operator: 'NotIn', values }],
})

/**
 * The ingress controller, the platform, and what the operators of the cluster run: not the namespaces
 * of others, and not the runs, which are code of others.
 */
const NOT_MANAGED = {
  matchExpressions: [
    { key: MANAGED_LABEL, operator: 'DoesNotExist' },
    {
      key: 'kubernetes.io/metadata.name',
      operator: 'NotIn',
      values: [BUILD_NAMESPACE, RUNS_NAMESPACE, USERS_NAMESPACE],
    },
  ],
}
