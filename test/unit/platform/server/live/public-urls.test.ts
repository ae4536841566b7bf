import { expect, test } from 'vitest'
import { ClusterError, type KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import { publicUrls } from '../../../../../platform/server/live/public-urls.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const signal = new AbortController().signal
const labels = { 'dev.platform/environment': 'shop' }
const ingress = (name: string, hosts: readonly string[], more: object = {}): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name, namespace: 'ns', labels, ...more },
  spec: {
    tls: [{ hosts: hosts.filter(host => !host.startsWith('plain')) }],
    rules: hosts.map(host => ({
      host,
      http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name, port: { number: 80 } } } }] },
    })),
  },
})
const route: KubeObject = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'api', namespace: 'ns', labels },
  spec: {
    parentRefs: [{ name: 'public', namespace: 'gateways' }],
    hostnames: ['api-ns.dev.example.com'],
    rules: [{ matches: [{ path: { value: '/v1' } }], backendRefs: [{ name: 'api' }] }],
  },
}

/** A cluster with these objects; lists of a kind can fail. */
async function clusterOf(objects: readonly KubeObject[], failures: Readonly<Record<string, ClusterError>> = {}) {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  for (const object of objects) if (object.kind === 'Ingress') await cluster.create(object)
  const routes = objects.filter(({ kind }) => kind === 'HTTPRoute')
  const pages: MemoryCluster['pages'] = async function* (query, options) {
    const failure = failures[query.kind]
    if (failure) throw failure
    if (query.kind === 'HTTPRoute') yield routes
    else yield* cluster.pages(query, options)
  }
  const get: MemoryCluster['get'] = async (ref, options) => {
    if (ref.kind !== 'Gateway') return cluster.get(ref, options)
    throw new ClusterError('forbidden', 'you may not read it')
  }
  return Object.assign(Object.create(cluster) as MemoryCluster, { pages, get })
}

test('the URLs of a namespace are those of its routes, the shorter ones first', async () => {
  const cluster = await clusterOf([
    ingress('web', ['longer-web-ns.dev.example.com', 'web-ns.dev.example.com', 'plain-ns.dev.example.com']),
    ingress('other', ['web-ns.dev.example.com']),
    ingress('foreign', ['foreign-ns.dev.example.com'], { labels: {} }),
    route,
  ])
  expect(await publicUrls(cluster, 'ns', signal)).toEqual([
    'https://web-ns.dev.example.com',
    'http://plain-ns.dev.example.com',
    'https://api-ns.dev.example.com/v1',
    'https://longer-web-ns.dev.example.com',
  ])
})

test.each(['forbidden', 'not-found'] as const)('HTTPRoutes are optional: %s', async failure => {
  const failures = { HTTPRoute: new ClusterError(failure, 'x') }
  const cluster = await clusterOf([ingress('web', ['web-ns.dev.example.com'])], failures)
  expect(await publicUrls(cluster, 'ns', signal)).toEqual(['https://web-ns.dev.example.com'])
})

test('a list that fails is an error, not an empty list', async () => {
  for (const [kind, failure] of [
    ['Ingress', 'forbidden'],
    ['HTTPRoute', 'unavailable'],
  ] as const) {
    const cluster = await clusterOf([], { [kind]: new ClusterError(failure, 'x') })
    await expect(publicUrls(cluster, 'ns', signal)).rejects.toMatchObject({ failure })
  }
})

test('the number of URLs and their length are limited', async () => {
  const hosts = Array.from({ length: 500 }, (_, at) => `web-${at}-ns.dev.example.com`)
  const long = { ...route, spec: { ...(route['spec'] as object), hostnames: ['x'.repeat(400)] } }
  const found = await publicUrls(await clusterOf([ingress('web', hosts), long]), 'ns', signal)
  expect(found).toHaveLength(20)
  expect(found[0]).toBe('https://web-0-ns.dev.example.com')
})
