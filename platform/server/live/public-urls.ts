import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { kindsOf } from '../../../constructs/kinds.ts'
import { gatewaysOf } from '../../../environment/endpoints/gateways.ts'
import { addressesOf, shorterFirst } from '../../../environment/endpoints/routes.ts'
import { ENVIRONMENT_LABEL } from '../../../environment/labels.ts'
import { PAGES_OF_MEMBERS } from '../http/member-objects.ts'

/**
 * Maximum number and length of the URLs of one namespace. A list shows only the first few, and any user with write
 * access can create many routes.
 */
const MOST = 20
const LONGEST = 300
/** Maximum number of routes that are read. */
const MOST_ROUTES = 200

/**
 * Returns the public URLs of the environments in a namespace, shorter URLs first. The page of an environment shows the
 * URLs of the same routes. Throws a ClusterError if the caller may not read the routes.
 */
export async function publicUrls(cluster: Cluster, namespace: string, signal: AbortSignal): Promise<readonly string[]> {
  const urls = new Set<string>()
  for (const { apiVersion, kind } of kindsOf('route')) {
    const query = { apiVersion, kind, namespace, labels: ENVIRONMENT_LABEL }
    let left = MOST_ROUTES
    try {
      // Reads small pages, because an object can have 1.5 MiB.
      for await (const page of cluster.pages(query, { signal, ...PAGES_OF_MEMBERS })) {
        for (const url of await urlsOf(cluster, page.slice(0, left), signal)) urls.add(url)
        left -= page.length
        if (left <= 0) break
      }
    } catch (error) {
      if (!isMissing(kind, error)) throw error
    }
  }
  return [...urls]
    .map(url => ({ url }))
    .sort(shorterFirst)
    .slice(0, MOST)
    .map(({ url }) => url)
}

async function urlsOf(cluster: Cluster, page: readonly KubeObject[], signal: AbortSignal): Promise<readonly string[]> {
  const routes = page.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const gateways = await gatewaysOf(cluster, routes, { signal })
  return routes
    .flatMap(route => addressesOf(route, gateways).map(({ url }) => url))
    .filter(url => url.length <= LONGEST && URL.canParse(url))
    .sort((a, b) => a.length - b.length)
    .slice(0, MOST)
}

/** Returns true if the cluster has no Gateway API, or the caller has no right to it. */
const isMissing = (kind: string, error: unknown): boolean =>
  kind === 'HTTPRoute' && error instanceof ClusterError && ['forbidden', 'not-found'].includes(error.failure)
