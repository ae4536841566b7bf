import { describe, expect, test } from 'vitest'
import {
  type Cluster,
  ClusterError,
  type KubeObject,
  type ObjectQuery,
  type ObjectRef,
} from '../../../../adapters/kubernetes/cluster.ts'
import { renderEndpoints } from '../../../../cli/terminal/print-endpoints.ts'
import { withAnswers } from '../../../../environment/endpoints/asked.ts'
import { endpointsOf, findEndpoints } from '../../../../environment/endpoints/endpoints.ts'
import { withClassProblems } from '../../../../environment/endpoints/ingress-classes.ts'

/**
 * Returns a cluster with these objects; `forbidden` forbids to read Gateways, `onlyEdit` to list HTTPRoutes and ingress
 * classes.
 */
function holding(objects: readonly KubeObject[], { forbidden = false, onlyEdit = false } = {}): Cluster {
  const cluster = {
    list: async ({ kind, namespace, labels }: ObjectQuery) => {
      if (kind === 'IngressClass' && onlyEdit) throw new ClusterError('forbidden', 'ingressclasses are forbidden')
      if (kind === 'HTTPRoute' && onlyEdit) throw new ClusterError('forbidden', 'httproutes are forbidden')
      return objects.filter(
        ({ kind: of, metadata }) =>
          of === kind &&
          metadata.namespace === namespace &&
          (!labels || labels === `dev.platform/environment=${metadata.labels?.['dev.platform/environment']}`),
      )
    },
    get: async ({ kind, name, namespace }: ObjectRef) => {
      if (kind === 'Gateway' && forbidden) throw new ClusterError('forbidden', 'gateways are forbidden')
      return objects.find(
        one => one.kind === kind && one.metadata.name === name && one.metadata.namespace === namespace,
      )
    },
  }
  return cluster as Partial<Cluster> as Cluster // only the methods that endpoints use
}

const labels = { 'dev.platform/environment': 'shop' }
const object = (apiVersion: string, kind: string, name: string, more: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'shop', labels },
  ...more,
})
const ingress = (name: string, spec: object) => object('networking.k8s.io/v1', 'Ingress', name, { spec })
const httpRoute = (
  name: string,
  spec: object,
  conditions: readonly object[] = [{ type: 'Accepted', status: 'True' }],
) => object('gateway.networking.k8s.io/v1', 'HTTPRoute', name, { spec, status: { parents: [{ conditions }] } })
const backend = (name: string) => ({ service: { name, port: { number: 80 } } })
const service = (name: string, spec: object = {}) => object('v1', 'Service', name, { spec })
const slice = (name: string, ...ready: readonly (boolean | undefined)[]): KubeObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: `${name}-x`, namespace: 'shop', labels: { 'kubernetes.io/service-name': name } },
  endpoints: ready.length === 0 ? null : ready.map(ready => ({ conditions: ready === undefined ? {} : { ready } })),
})
const find = (objects: readonly KubeObject[], options = {}) =>
  findEndpoints(holding(objects, options), { environment: 'shop', namespace: 'shop' })

const rule = (host: string, ...paths: readonly [path: string, service: string][]) => ({
  host,
  http: { paths: paths.map(([path, name]) => ({ path, pathType: 'Prefix', backend: backend(name) })) },
})

describe('endpoints', () => {
  test('endpoints of Ingresses are found without the right to read HTTPRoutes', async () => {
    const objects = [ingress('web', { rules: [rule('a.example.com', ['/', 'web'])] }), slice('web', true)]
    const found = await find(objects, { onlyEdit: true })
    expect(found.map(({ url }) => url)).toEqual(['http://a.example.com'])
  })

  test('endpoints are all hosts and paths, each once, the shortest first', async () => {
    const found = await find([
      ingress('web', {
        rules: [rule('web-shop.example.com', ['/', 'web'], ['/api', 'api']), rule('a.example.com', ['/', 'web'])],
        tls: [{ hosts: ['web-shop.example.com'] }, { hosts: ['*.example.com'] }],
      }),
      ingress('again', { rules: [rule('web-shop.example.com', ['/', 'other'])], tls: [{ hosts: ['*.example.com'] }] }),
      ingress('plain', { rules: [rule('plain.example.org', ['/', 'web']), { http: { paths: [] } }] }),
      ...['web', 'api', 'other'].map(name => slice(name, true)),
    ])
    expect(found).toEqual([
      { url: 'https://a.example.com', services: ['web'], isReady: true },
      { url: 'http://plain.example.org', services: ['web'], isReady: true },
      { url: 'https://web-shop.example.com', services: ['other', 'web'], isReady: true },
      { url: 'https://web-shop.example.com/api', services: ['api'], isReady: true },
    ])
  })

  test('endpoints of other environments are left out', async () => {
    const other = { ...ingress('web', { rules: [rule('a.example.com', ['/', 'web'])] }) }
    const labels = { 'dev.platform/environment': 'other' }
    expect(await find([{ ...other, metadata: { ...other.metadata, labels } }])).toEqual([])
  })

  test.each<readonly [what: string, objects: readonly KubeObject[], reason: string | undefined]>([
    ['a Pod that is ready', [slice('web', false, true)], undefined],
    ['a Pod of which nothing is known', [slice('web', undefined)], undefined],
    ['a second slice', [slice('web'), slice('web', true)], undefined],
    ['Pods that are not ready', [service('web'), slice('web', false)], 'no Pod of `web` is ready'],
    ['no Pods', [service('web'), slice('web')], 'no Pod of `web` is ready'],
    ['no Service', [], 'the Service `web` does not exist'],
    ['a name outside', [service('web', { type: 'ExternalName' })], undefined],
  ])('an endpoint with %s behind it is ready or has a reason', async (_, objects, reason) => {
    const [found] = await find([ingress('web', { rules: [rule('a.example.com', ['/', 'web'])] }), ...objects])
    expect(found).toMatchObject({ isReady: reason === undefined, ...(reason && { reason }) })
  })

  test('endpoints of an HTTPRoute combine its hosts with the paths of its rules', async () => {
    const parentRefs = [{ name: 'public', namespace: 'infra' }]
    const spec = {
      parentRefs,
      hostnames: ['a.example.com', 'b.example.com'],
      rules: [
        { matches: [{ path: { value: '/api' } }, { path: { value: '/v2' } }], backendRefs: [{ name: 'api', port: 1 }] },
        {
          backendRefs: [
            { name: 'web', port: 1 },
            { name: 'away', namespace: 'other', port: 1 },
          ],
        },
      ],
    }
    const found = await find([httpRoute('a', spec), slice('api', true), slice('web', true)], { forbidden: true })
    expect(found.map(({ url, services, isReady }) => `${url} ${services} ${isReady}`)).toEqual([
      'https://a.example.com web true',
      'https://b.example.com web true',
      'https://a.example.com/v2 api true',
      'https://b.example.com/v2 api true',
      'https://a.example.com/api api true',
      'https://b.example.com/api api true',
    ])
  })

  test.each([
    ['only http', undefined, ['HTTP'], 'http'],
    ['https, too', undefined, ['HTTP', 'HTTPS'], 'https'],
    ['http at the listener it names', 'l0', ['HTTP', 'HTTPS'], 'http'],
    ['nothing that is known', undefined, [], 'https'],
  ])('the URL fits an HTTPRoute whose Gateway speaks %s', async (_, sectionName, protocols, scheme) => {
    const gateway: KubeObject = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'public', namespace: 'infra' },
      spec: { listeners: protocols.map((protocol, index) => ({ name: `l${index}`, protocol })) },
    }
    const parentRefs = [{ name: 'public', namespace: 'infra', ...(sectionName && { sectionName }) }]
    const spec = { parentRefs, hostnames: ['a.example.com'], rules: [{ backendRefs: [{ name: 'web' }] }] }
    const [found] = await find([httpRoute('a', spec), gateway, slice('web', true)])
    expect(found?.url).toBe(`${scheme}://a.example.com`)
  })

  test.each([
    [[{ type: 'IPAddress', value: '10.0.0.7' }], 443, '10.0.0.7'],
    [[{ value: '10.0.0.7' }], undefined, '10.0.0.7'],
    [
      [
        { type: 'example.com/own', value: 'x' },
        { type: 'Hostname', value: 'lb.example.com' },
      ],
      443,
      'lb.example.com',
    ],
    [[{ type: 'IPAddress', value: '10.0.0.7' }], 8443, undefined],
    [[], 443, undefined],
  ])('the entry of an HTTPRoute is an address of its Gateway, if known: %j at %s', async (addresses, port, entry) => {
    const gateway: KubeObject = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'public', namespace: 'infra' },
      spec: { listeners: [{ name: 'tls', protocol: 'HTTPS', ...(port !== undefined && { port }) }] },
      status: { addresses },
    }
    const parentRefs = [{ name: 'public', namespace: 'infra' }]
    const spec = { parentRefs, hostnames: ['a.example.com'], rules: [{ backendRefs: [{ name: 'web' }] }] }
    const [found] = await find([httpRoute('a', spec), gateway, slice('web', true)])
    expect(found?.entry).toBe(entry)
  })

  test.each([
    [[{ type: 'Accepted', status: 'False', message: 'no listener' }], 'its gateway refuses the route: no listener'],
    [[{ type: 'ResolvedRefs', status: 'False' }], 'its gateway refuses the route: ResolvedRefs'],
    [[], undefined],
  ])('an HTTPRoute with the conditions %j is ready or has a reason', async (conditions, reason) => {
    const spec = { hostnames: ['a.example.com'], rules: [{ backendRefs: [{ name: 'web' }] }] }
    const [found] = await find([httpRoute('a', spec, conditions), slice('web', true)])
    expect(found?.reason).toBe(reason)
  })

  test('an HTTPRoute that no gateway has accepted is not ready', async () => {
    const spec = { hostnames: ['a.example.com'], rules: [{ backendRefs: [{ name: 'web' }] }] }
    const route = { ...httpRoute('a', spec), status: {} }
    expect(await find([route, slice('web', true)])).toMatchObject([{ reason: 'no gateway has taken its route yet' }])
  })

  test.each([
    ['does not exist', [], {}, 'the Gateway `infra/public` does not exist'],
    ['may not be read', [], { forbidden: true }, 'no gateway has taken its route yet'],
    [
      'has not seen the route',
      [
        {
          ...object('gateway.networking.k8s.io/v1', 'Gateway', 'public', {}),
          metadata: { name: 'public', namespace: 'infra' },
        },
      ],
      {},
      'no gateway has taken its route yet',
    ],
  ])('an HTTPRoute whose Gateway %s is not ready', async (_, gateways, options, reason) => {
    const parentRefs = [{ name: 'public', namespace: 'infra' }]
    const spec = { parentRefs, hostnames: ['a.example.com'], rules: [{ backendRefs: [{ name: 'web' }] }] }
    const route = { ...httpRoute('a', spec), status: {} }
    expect(await find([route, slice('web', true), ...gateways], options)).toMatchObject([{ reason }])
  })

  describe('withClassProblems', () => {
    const rules = [rule('a.example.com', ['/', 'web'])]
    const nginx = object('networking.k8s.io/v1', 'IngressClass', 'nginx', {})
    const classes = (...names: readonly (typeof nginx)[]) =>
      names.map(one => ({ ...one, metadata: { name: one.metadata.name } }))
    const status = { loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } }
    const missing = 'the ingress class `traefik` does not exist (it does not resolve)'
    const noClass = 'the cluster has no ingress class, so no controller serves its Ingress (it does not resolve)'
    const plain = 'it does not resolve'

    test.each([
      ['its class does not exist', { ingressClassName: 'traefik' }, {}, classes(nginx), {}, missing],
      ['its class exists', { ingressClassName: 'nginx' }, {}, classes(nginx), {}, plain],
      ['it has no class, and there is none', {}, {}, [], {}, noClass],
      ['it has no class, and there is one', {}, {}, classes(nginx), {}, plain],
      ['a controller has taken it', { ingressClassName: 'traefik' }, { status }, [], {}, plain],
      ['classes may not be read', { ingressClassName: 'traefik' }, {}, [], { onlyEdit: true }, plain],
    ])('an Ingress that does not answer has a reason: %s', async (_, spec, more, found, options, reason) => {
      const cluster = holding([{ ...ingress('web', { ...spec, rules }), ...more }, ...found], options)
      const endpoint = { url: 'http://a.example.com', services: ['web'], isReady: false, reason: plain }
      const where = { environment: 'shop', namespace: 'shop' }
      expect(await withClassProblems(cluster, where, [endpoint], new Set([endpoint.url]), {})).toEqual([
        { ...endpoint, reason },
      ])
      expect(await withClassProblems(cluster, where, [endpoint], new Set(), {})).toEqual([endpoint])
    })
  })

  test('an endpoint names the Secret of its certificate if it does not exist', async () => {
    const tls = [
      { hosts: ['a.example.com'], secretName: 'a-tls' },
      { hosts: ['*.example.com'], secretName: 'all-tls' },
    ]
    const rules = [rule('a.example.com', ['/', 'web']), rule('bb.example.com', ['/', 'web'])]
    const objects = [ingress('web', { rules, tls }), slice('web', true), object('v1', 'Secret', 'all-tls', {})]
    const found = await find(objects)
    expect(found.map(({ url, missingSecret }) => [url, missingSecret])).toEqual([
      ['https://a.example.com', 'a-tls'],
      ['https://bb.example.com', undefined],
    ])
    const answer = async () => ({ status: 200, certificate: 'its issuer is not known here' })
    const asked = await withAnswers(found, answer)
    expect(asked.map(({ certificate }) => certificate)).toEqual([
      'the Secret `a-tls` does not exist',
      'its issuer is not known here',
    ])
  })

  test('an endpoint names a missing Secret also if the manifest declares it, or another route has its URL', async () => {
    const rules = [rule('a.example.com', ['/', 'web'])]
    const hosts = ['a.example.com']
    const routes = [
      ingress('web', { rules, tls: [{ hosts, secretName: 'a-tls' }] }),
      ingress('web-2', { rules, tls: [{ hosts }] }),
    ]
    const declared = [{ url: 'https://a.example.com', service: 'web' }]
    expect(await endpointsOf(holding([slice('web', true)]), 'shop', routes, declared)).toMatchObject([
      { url: 'https://a.example.com', missingSecret: 'a-tls' },
    ])
  })

  test('endpoints include those that the manifest declares', async () => {
    const routes = [
      ingress('web', { rules: [rule('a.example.com', ['/', 'web'])], tls: [{ hosts: ['a.example.com'] }] }),
    ]
    const declared = [{ url: 'https://a.example.com', service: 'cdn' }, { url: 'https://docs.example.com/shop' }]
    expect(await endpointsOf(holding([slice('web', true)]), 'shop', routes, declared)).toEqual([
      { url: 'https://a.example.com', services: ['cdn', 'web'], isReady: true },
      { url: 'https://docs.example.com/shop', services: [], isReady: true },
    ])
  })
})

describe('renderEndpoints', () => {
  const endpoints = [
    { url: 'https://a.example.com', services: ['web'], isReady: true },
    { url: 'https://a.example.com/api', services: ['api', 'web'], isReady: false, reason: 'no Pod of `api` is ready' },
  ]

  test('renderEndpoints writes endpoints as text', () => {
    expect(renderEndpoints(endpoints, 'text')).toBe(
      'web       https://a.example.com      ready\napi, web  https://a.example.com/api  not ready: no Pod of `api` is ready\n',
    )
    expect(renderEndpoints([], 'text')).toBe('')
  })

  test('renderEndpoints writes endpoints as JSON', () => {
    expect(JSON.parse(renderEndpoints(endpoints, 'json'))).toEqual([
      { url: 'https://a.example.com', services: ['web'], ready: true },
      { url: 'https://a.example.com/api', services: ['api', 'web'], ready: false, reason: 'no Pod of `api` is ready' },
    ])
    expect(renderEndpoints([], 'json')).toBe('[]\n')
  })

  test('renderEndpoints writes endpoints as Markdown', () => {
    expect(renderEndpoints(endpoints, 'md')).toBe(
      'Available endpoints:\n\n - [https://a.example.com](https://a.example.com)\n\n - [https://a.example.com/api](https://a.example.com/api) (not ready: no Pod of `api` is ready)\n',
    )
  })
})
