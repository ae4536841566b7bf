import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { unlessForbidden } from '../forbidden.ts'
import { environmentSelector } from '../labels.ts'
import type { Endpoint } from './endpoints.ts'
import { addressesOf, entryOf } from './routes.ts'

interface Where {
  readonly environment: string
  readonly namespace: string
}

/**
 * Adds to the endpoints of an environment the reason why no ingress controller serves them: the class of their Ingress
 * does not exist, or the cluster has no class at all. Checks only endpoints in `unanswered`, whose address has not
 * responded as expected, because some controllers serve Ingresses without a class. Returns the endpoints unchanged for
 * users without permission to read the classes, which are cluster-scoped.
 */
export async function withClassProblems(
  cluster: Cluster,
  { environment, namespace }: Where,
  endpoints: readonly Endpoint[],
  unanswered: ReadonlySet<string>,
  options: CallOptions,
): Promise<readonly Endpoint[]> {
  if (unanswered.size === 0) return endpoints
  const ofIngresses = { apiVersion: 'networking.k8s.io/v1', namespace, labels: environmentSelector(environment) }
  const [routes, classes] = await Promise.all([
    cluster.list({ ...ofIngresses, kind: 'Ingress' }, options),
    unlessForbidden(cluster.list({ apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass' }, options), undefined),
  ])
  if (!classes) return endpoints
  const names = new Set(classes.map(({ metadata }) => metadata.name))
  const problems = new Map(
    routes.flatMap(route => {
      const problem = problemOf(route, names)
      return problem === undefined ? [] : addressesOf(route, new Map()).map(({ url }) => [url, problem] as const)
    }),
  )
  return endpoints.map(endpoint => {
    const problem = unanswered.has(endpoint.url) ? problems.get(endpoint.url) : undefined
    return problem === undefined ? endpoint : { ...endpoint, reason: `${problem} (${endpoint.reason})` }
  })
}

/**
 * Returns the problem with the class of an Ingress. Undefined if there is none, or if the Ingress has an address: a
 * controller then serves the Ingress, whatever its class.
 */
function problemOf(ingress: KubeObject, classes: ReadonlySet<string>): string | undefined {
  if (entryOf(ingress, new Map()) !== undefined) return undefined
  const { ingressClassName: name } = (ingress['spec'] ?? {}) as { readonly ingressClassName?: string } // its spec
  if (name !== undefined) return classes.has(name) ? undefined : `the ingress class \`${name}\` does not exist`
  return classes.size === 0 ? 'the cluster has no ingress class, so no controller serves its Ingress' : undefined
}
