import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { kindsOf } from '../../../constructs/kinds.ts'
import { gatewaysOf } from '../../../environment/endpoints/gateways.ts'
import { addressesOf, shorterFirst } from '../../../environment/endpoints/routes.ts'
import { ENVIRONMENT_LABEL } from '../../../environment/labels.ts'
import { PAGES_OF_MEMBERS } from '../http/member-objects.ts'

/** URLs of one namespace, and characters of one: a list shows the first few, and anyone can create many routes. */
const MOST = 20
const LONGEST = 300
/** Routes that are read. */
const MOST_ROUTES = 200

/**
 * Returns the public URLs of the environments in a namespace, the shorter ones first: those of their routes, as the
 * page of an environment shows them. Throws a ClusterError if the caller may not read the routes.
 */
export async function publicUrls(cluster: Cluster, namespace: string, signal: AbortSignal): Promise<readonly string[]> {
  const urls = new Set<string>()
  for (const { apiVersion, kind } of kindsOf('route')) {
    const query = { apiVersion, kind, namespace, labels: ENVIRONMENT_LABEL }
    let left = MOST_ROUTES
    try {
      // One page at a time: an object can have 1.5 MiB.
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

/** The Gateway API may be missing in the cluster, and the caller may have no right to it. */
const isMissing = (kind: string, error: unknown): boolean =>
  kind === 'HTTPRoute' && error instanceof ClusterError && ['forbidden', 'not-found'].includes(error.failure)
