import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { keeperBinding } from '../records/member.ts'
import { MANAGED_LABEL, PLATFORM_NAMESPACE, RUNS_NAMESPACE, USERS_NAMESPACE } from '../records/names.ts'

/**
 * What is in each namespace of the platform: limits, so that one cannot use up the cluster, and a
 * wall to the other namespaces (design, section 5). The networks of the cluster itself are not part
 * of the world outside.
 */
export function surroundings(namespace: string, clusterNetworks: readonly string[]): readonly KubeObject[] {
  const metadata = (name: string) => ({ name, namespace, labels: { [MANAGED_LABEL]: 'true' } })
  return [
    keeperBinding(namespace),
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: metadata('devctl'),
      spec: {
        hard: {
          'requests.cpu': '8',
          'requests.memory': '16Gi',
          'requests.storage': '100Gi',
          pods: '100',
          services: '50',
          'services.nodeports': '0',
          'services.loadbalancers': '0',
          // What would fill the database of the API server.
          'count/secrets': '500',
          'count/configmaps': '500',
          'count/ingresses.networking.k8s.io': '100',
          'count/jobs.batch': '500',
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: metadata('devctl'),
      spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '10m', memory: '32Mi' } }] },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: metadata('devctl'),
      spec: {
        podSelector: {},
        policyTypes: ['Ingress', 'Egress'],
        ingress: [{ from: [{ podSelector: {} }, { namespaceSelector: NOT_MANAGED }] }],
        egress: [
          { to: [{ podSelector: {} }] },
          {
            to: [{ namespaceSelector: named('kube-system') }],
            ports: [53, 8053].flatMap(port => [
              { protocol: 'UDP', port },
              { protocol: 'TCP', port },
            ]),
          },
          { to: [{ namespaceSelector: named(PLATFORM_NAMESPACE) }] },
          { to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16', ...clusterNetworks] } }] },
        ],
      },
    },
  ]
}

/**
 * The ingress controller, the platform, and what the operators of the cluster run: not the namespaces
 * of others, and not the runs, which are code of others.
 */
const NOT_MANAGED = {
  matchExpressions: [
    { key: MANAGED_LABEL, operator: 'DoesNotExist' },
    { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [RUNS_NAMESPACE, USERS_NAMESPACE] },
  ],
}

const named = (name: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': name } })
