import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { keeperBinding } from '../../records/member.ts'
import {
  ALL_PODS,
  BUILD_NAMESPACE,
  INSIDE,
  MANAGED_LABEL,
  OUTSIDE,
  RUNS_NAMESPACE,
  TRAFFIC_LABEL,
  USERS_NAMESPACE,
} from '../../records/names.ts'
import { type Networks, toDns, toOutside } from '../../records/network-rules.ts'

/**
 * Returns the standard objects of a namespace: limits, so that it cannot use up the cluster's resources, and network
 * policies (design, section 5). The policies isolate the namespace from other namespaces, and block the networks of the
 * cluster itself. Between Pods of the namespace, they allow all traffic, except for Pods that the networks of a Compose
 * file separate.
 */
export function namespaceDefaults(
  namespace: string,
  { quota, ...networks }: Networks & { readonly quota?: Readonly<Record<string, string>> },
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
            // Default limits, because a container without a limit could use up the resources of its node.
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
      egress: [{ to: [{ podSelector: {} }] }, toOutside(networks)],
    }),
    // Created last: until the quota controller has counted the existing objects, no objects of these kinds can be
    // created.
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
 * Object count limits for all kinds that a developer can create. Too many objects would fill the database of the API
 * server, and the memory of clients that list them. Each Deployment keeps some ReplicaSets, each StatefulSet some
 * ControllerRevisions, and each Job its Pods.
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
    // This includes ended Pods and the histories of workloads, because a member can configure an unlimited history.
    500: ['pods', 'replicasets.apps', 'controllerrevisions.apps'],
  }).flatMap(([most, kinds]) => kinds.map(kind => [`count/${kind}`, most])),
)

const networkPolicy = (metadata: KubeObject['metadata'], spec: object): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata,
  spec,
})

/** Returns a selector of all Pods except those whose traffic label has one of the given values. */
const without = (...values: readonly string[]) => ({
  matchExpressions: [{ key: TRAFFIC_LABEL, operator: 'NotIn', values }],
})

/**
 * Selector of namespaces that the platform does not manage: the namespaces of the ingress controller, the platform and
 * the operators' own workloads. It excludes users' namespaces and the namespace of runs, which execute untrusted code.
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
