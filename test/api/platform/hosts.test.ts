import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClusterError, type KubeObject, type ObjectRef } from '../../../adapters/kubernetes/cluster.ts'
import { longerNamesTask } from '../../../platform/server/namespaces/longer-names-task.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { few, TAKES_ALL } from '../../support/takes-all.ts'

// Tests all ways in which a member can write hosts and addresses: the API server refuses those of others.

const DOMAIN = 'dev.example.com'

describe.skipIf(!process.env.KUBECONFIG)('the hosts of a namespace', () => {
  let platform: TestPlatform
  const [ns, longer] = [`dev-${RUN}`, `shop-dev-${RUN}`]
  const own = `web-${ns}.${DOMAIN}`
  beforeAll(async () => {
    platform = await openPlatform()
    const ann = await platform.person('ann')
    for (const name of [ns, longer])
      expect((await platform.call('POST /namespaces', { token: ann.token, body: { name } })).status).toBe(200)
    await eventually('the policy is in force', () =>
      platform.cluster.create({ ...route({ rules: [rule('x.example.org')] }), ...{} }).then(
        () => platform.cluster.delete(ref).then(() => undefined),
        (error: Error) => (error.message.includes('is not one of this namespace') ? true : undefined),
      ),
    )
  })
  afterAll(() => platform?.close())

  const ref = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'web', namespace: ns }
  const backend = { service: { name: 'web', port: { number: 80 } } }
  const rule = (host?: string) => ({
    ...(host !== undefined && { host }),
    http: { paths: [{ path: '/', pathType: 'Prefix', backend }] },
  })
  const route = (spec: object, annotations = {}): KubeObject => ({
    apiVersion: ref.apiVersion,
    kind: ref.kind,
    metadata: { name: ref.name, namespace: ns, annotations },
    spec,
  })
  const service = (spec: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: ns },
    spec: { ports: [{ port: 80 }], ...spec },
  })

  const wrong: readonly (readonly [string, KubeObject])[] = [
    ...[
      `shop.${DOMAIN}`,
      `${ns}.${DOMAIN}`,
      `-${ns}.${DOMAIN}`,
      `platform.${DOMAIN}`,
      `web-other.${DOMAIN}`,
      `web-${longer}.${DOMAIN}`,
      `${longer}.${DOMAIN}`,
      `a.web-${ns}.${DOMAIN}`,
      `web-${ns}.${DOMAIN}.evil.com`,
      `web-${ns}xdev.example.com`,
      `web-${ns}.devxexample.com`,
      `*.${DOMAIN}`,
      `*.web-${ns}.${DOMAIN}`,
      `WEB-${ns}.${DOMAIN}`,
      `PLATFORM.${DOMAIN}`,
      `web-${ns}.${DOMAIN}.`,
      `web-${ns}.${DOMAIN}:80`,
      'evil.com',
      DOMAIN,
    ].map(host => [`the host ${host}`, route({ rules: [rule(own), rule(host)] })] as const),
    ['no host', route({ rules: [rule()] })],
    ['an empty host', route({ rules: [rule('')] })],
    ['a default backend', route({ rules: [rule(own)], defaultBackend: backend })],
    ['only a default backend', route({ defaultBackend: backend })],
    ['a host of TLS', route({ rules: [rule(own)], tls: [{ hosts: [own, `platform.${DOMAIN}`] }] })],
    ['TLS for all hosts', route({ rules: [rule(own)], tls: [{}] })],
    ['TLS without hosts', route({ rules: [rule(own)], tls: [{ hosts: [] }] })],
    ['a wildcard of TLS', route({ rules: [rule(own)], tls: [{ hosts: [`*.${DOMAIN}`] }] })],
    ['a certificate', route({ rules: [rule(own)], tls: [{ hosts: [own], secretName: 'mine' }] })],
    ...[
      'nginx.ingress.kubernetes.io/server-alias',
      'nginx.ingress.kubernetes.io/configuration-snippet',
      'haproxy-ingress.github.io/server-alias-regex',
      'haproxy-ingress.github.io/config-backend',
      'alb.ingress.kubernetes.io/conditions.web',
      'alb.ingress.kubernetes.io/group.name',
      'traefik.ingress.kubernetes.io/router.tls.domains.0.main',
    ].map(key => [`the annotation ${key}`, route({ rules: [rule(own)] }, { [key]: `platform.${DOMAIN}` })] as const),
    ...[
      'traefik.ingress.kubernetes.io/router.pathmatcher',
      'traefik.ingress.kubernetes.io/router.priority',
      'traefik.ingress.kubernetes.io/router.middlewares',
      'nginx.ingress.kubernetes.io/auth-url',
      'nginx.org/server-snippets',
      'external-dns.alpha.kubernetes.io/hostname',
      'konghq.com/host-aliases',
      'ingress.kubernetes.io/anything',
      'zalando.org/skipper-routes',
      'zalando.org/skipper-predicate',
      'higress.io/rewrite-target',
      'k8s.apisix.apache.org/use-regex',
      'nginx.ingress.kubernetes.io/rewrite-target/x',
    ].map(key => [`the annotation ${key}`, route({ rules: [rule(own)] }, { [key]: 'x' })] as const),
    ...[
      ['nginx.ingress.kubernetes.io/rewrite-target', '/x; return 200 y'],
      ['nginx.ingress.kubernetes.io/rewrite-target', '/x" y'],
      ['nginx.ingress.kubernetes.io/rewrite-target', "/x' y"],
      ['nginx.ingress.kubernetes.io/rewrite-target', '/x\\'],
      ['nginx.ingress.kubernetes.io/rewrite-target', '/x }'],
      ['nginx.ingress.kubernetes.io/rewrite-target', '/x\n'],
      ['nginx.ingress.kubernetes.io/proxy-body-size', '8m;\nserver {'],
      ...['1g', '257k', '1000k', '1m', '300000', ' 8k', '08k', ''].map(size => [
        'nginx.ingress.kubernetes.io/proxy-buffer-size',
        size,
      ]),
      ['nginx.ingress.kubernetes.io/proxy-body-size', '8m\r'],
      ['nginx.ingress.kubernetes.io/proxy-body-size', '8m #'],
      ['nginx.ingress.kubernetes.io/rewrite-target', '/a b c d'],
      ['nginx.ingress.kubernetes.io/proxy-read-timeout', '1 2 3'],
      ['nginx.ingress.kubernetes.io/proxy-send-timeout', '-1'],
      ['nginx.ingress.kubernetes.io/limit-rps', '1.5'],
      ['nginx.ingress.kubernetes.io/proxy-body-size', '8 m'],
      ['nginx.ingress.kubernetes.io/proxy-buffering', 'true'],
      ['nginx.ingress.kubernetes.io/use-regex', 'on'],
      ['nginx.ingress.kubernetes.io/affinity', 'a b'],
      ['nginx.ingress.kubernetes.io/backend-protocol', 'HTTP x'],
      ['nginx.ingress.kubernetes.io/session-cookie-name', 'a b'],
      ...['1.2.3.4/99', '1.2.3.4/', 'any', '2001:db8::/129', '192.0.2.0/24,', ''].map(networks => [
        'nginx.ingress.kubernetes.io/whitelist-source-range',
        networks,
      ]),
      ['nginx.ingress.kubernetes.io/cors-allow-origin', '`x`'],
      ['traefik.ingress.kubernetes.io/router.entrypoints', 'web\tx'],
    ].map(
      ([key, value]) =>
        [
          `the value ${JSON.stringify(value)} of the annotation ${key}`,
          route({ rules: [rule(own)] }, { [key!]: value }),
        ] as const,
    ),
    ...[
      '/`) || Host(`platform.dev.example.com`) || Path(`/x',
      '/a b',
      '/"',
      "/'",
      '/{',
      '/;',
      '/\n#',
      '/(((',
      '/a)',
      '/**',
    ].map(
      path =>
        [
          `the path ${JSON.stringify(path)}`,
          route({ rules: [{ host: own, http: { paths: [{ path, pathType: 'ImplementationSpecific', backend }] } }] }),
        ] as const,
    ),
    ['an external address', service({ externalIPs: ['10.0.0.1'] })],
    ...[
      'platform.devctl-platform.svc.cluster.local',
      'web.other.svc',
      'web.other.svc.cluster.local',
      `web.${ns}.other.svc.cluster.local`,
      `${ns}.svc.cluster.local`,
      'web.other',
      'kubernetes.default',
      'web.other.svc.',
      'localhost',
      'kubernetes',
      '10.0.0.1',
      '10.0.0.1.',
      'metadata.google.internal',
      'metadata.google.internal.',
      'platform.devctl-platform.svc.cluster.local.',
      'platform.devctl-platform.svc.k8s.example.com.',
      '10-0-0-1.other.pod.k8s.example.com.',
      'localhost.',
      'kubernetes.',
      // Names that the resolver's search list completes: a Pod of a headless Service, and one of its ports.
      'web-0.web.other',
      '_http._tcp.web.other',
      'db.example.org',
    ].map(name => [`the external name ${name}`, service({ type: 'ExternalName', externalName: name })] as const),
  ]
  const refused = (work: Promise<unknown>, what: string) =>
    expect(work, what).rejects.toMatchObject({ failure: expect.stringMatching(/forbidden|invalid/) })

  // An ingress controller can write the status of an Ingress at any time, and the API server checks the version first.
  const replaced = async (one: KubeObject, where: ObjectRef): Promise<unknown> => {
    for (let attempt = 1; ; attempt++) {
      const { resourceVersion } = (await platform.cluster.get(where))!.metadata
      try {
        return await platform.cluster.replace({ ...one, metadata: { ...one.metadata, resourceVersion } } as KubeObject)
      } catch (error) {
        if (attempt === 10 || !(error instanceof ClusterError) || error.failure !== 'conflict') throw error
      }
    }
  }

  test('a namespace may use its own hosts and harmless annotations', async () => {
    const made = [
      route({ rules: [rule(own), rule(`a-b-c-${ns}.${DOMAIN}`)], tls: [{ hosts: [own] }] }, { 'any/one': 'x' }),
      route(
        { rules: [rule(own)] },
        {
          'nginx.ingress.kubernetes.io/proxy-body-size': '8m',
          'nginx.ingress.kubernetes.io/proxy-buffer-size': '256k',
          'nginx.ingress.kubernetes.io/proxy-read-timeout': '3600',
          'nginx.ingress.kubernetes.io/rewrite-target': '/v1/$2',
          'nginx.ingress.kubernetes.io/cors-allow-origin': 'https://*.example.com:8443, http://localhost:3000',
          'nginx.ingress.kubernetes.io/cors-allow-headers': 'Content-Type, X-Token_1',
          'nginx.ingress.kubernetes.io/proxy-request-buffering': 'off',
          'nginx.ingress.kubernetes.io/ssl-redirect': 'false',
          'nginx.ingress.kubernetes.io/use-regex': 'true',
          'nginx.ingress.kubernetes.io/affinity': 'cookie',
          'nginx.ingress.kubernetes.io/backend-protocol': 'GRPCS',
          'nginx.ingress.kubernetes.io/limit-rps': '10',
          'nginx.ingress.kubernetes.io/session-cookie-path': '/a/?~(b|c)$',
          'nginx.ingress.kubernetes.io/session-cookie-max-age': '172800',
          'nginx.ingress.kubernetes.io/whitelist-source-range': '192.0.2.0/24, 2001:db8::/32,::1,192.0.2.7',
          'traefik.ingress.kubernetes.io/router.entrypoints': 'web,websecure',
          'dev.example/note': 'say "x"; {}',
        },
      ),
      route({
        rules: [
          { host: own, http: { paths: [{ path: '/api(/|$)(.*)', pathType: 'ImplementationSpecific', backend }] } },
        ],
      }),
      service({}),
      service({ type: 'ExternalName', externalName: 'db.example.org.' }),
      service({ type: 'ExternalName', externalName: 'example.org.' }),
      service({ type: 'ExternalName', externalName: `db.${ns}.svc.cluster.local` }),
    ]
    for (const one of made) {
      await platform.cluster.create(one)
      await platform.cluster.delete({ ...one, ...one.metadata })
    }
  })

  test.each(wrong)('an object with %s cannot be created', (_, one) => refused(platform.cluster.create(one), 'create'))

  /** Every eighth case; all in `npm run test:long`. */
  const rewritten = wrong.filter((_, index) => TAKES_ALL || index % 8 === 0)
  test.each(rewritten)('an object with %s cannot be applied, patched or replaced', async (_, one) => {
    const { cluster } = platform
    await refused(cluster.apply(one, { manager: 'thief', force: true }), 'apply')
    const good = one.kind === 'Ingress' ? route({ rules: [rule(own)] }) : service({})
    await cluster.create(good)
    try {
      const patch = { metadata: { annotations: one.metadata.annotations ?? {} }, spec: one['spec'] }
      const where = { apiVersion: one.apiVersion, kind: one.kind, name: 'web', namespace: ns }
      await refused(cluster.patch(where, patch, { manager: 'thief' }), 'patch')
      await refused(replaced(one, where), 'replace')
      await refused(cluster.apply(one, { manager: 'thief', force: true }), 'apply over it')
    } finally {
      await cluster.delete({ ...good, ...good.metadata })
    }
  })

  test('members cannot write addresses of a Service, even with rights to Endpoints', async () => {
    const { cluster, world } = platform
    const ann = await platform.person('ann')
    const { token } = (await platform.call('POST /kube-token', { token: ann.token })).body
    const member = world.clusterAs(async () => token, 'ann')
    // Clusters that were once older than Kubernetes 1.22 have such a role.
    const rbac = 'rbac.authorization.k8s.io'
    const old = { apiVersion: `${rbac}/v1`, metadata: { name: `endpoints-${RUN}`, namespace: ns } }
    await cluster.create({
      ...old,
      kind: 'Role',
      rules: [
        { apiGroups: [''], resources: ['endpoints'], verbs: ['create', 'get', 'update', 'patch'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['create', 'get', 'update', 'patch'] },
      ],
    })
    await cluster.create({
      ...old,
      kind: 'RoleBinding',
      roleRef: { apiGroup: rbac, kind: 'Role', name: old.metadata.name },
      subjects: [{ kind: 'ServiceAccount', namespace: 'devctl-users', name: `u-${ann.id}` }],
    })
    const metadata = { name: 'stolen', namespace: ns, labels: { 'kubernetes.io/service-name': 'web' } }
    const addresses = [
      { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets: [] },
      { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, addressType: 'IPv4', endpoints: [] },
    ] as const
    const [subsets, endpoints] = [[{ addresses: [{ ip: '10.1.2.3' }] }], [{ addresses: ['10.1.2.3'] }]]
    const why = /the addresses of a Service can only be those of the Pods that it selects/
    for (const one of addresses) {
      await eventually('the policy is in force', async () => {
        const refusal = await member.create(one).then(
          () => cluster.delete({ ...one, ...metadata }).then(() => ''),
          (error: Error) => error.message,
        )
        return why.test(refusal) ? true : undefined
      })
      await expect(member.apply(one, { manager: 'thief', force: true })).rejects.toThrow(why)
      // Callers with rights in all namespaces, as controllers and operators, are not restricted.
      await cluster.create(one)
      const patch = one.kind === 'Endpoints' ? { subsets } : { endpoints }
      await expect(member.patch({ ...one, ...metadata }, patch, { manager: 'thief' })).rejects.toThrow(why)
      await cluster.delete({ ...one, ...metadata })
    }
  })

  test('each of many namespaces that are created at once keeps its hosts', async () => {
    const dora = await platform.person('dora', 'admin')
    const names = ['many', 'a-many', 'b-many', 'c-a-many', 'd-b-many'].map(one => `${one}-${RUN}`)
    const create = (name: string) => platform.call('POST /namespaces', { token: dora.token, body: { name } })
    expect((await Promise.all(names.map(create))).map(({ status }) => status)).toEqual(names.map(() => 200))
    const kept = await Promise.all(
      names.map(async name => {
        const live = await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
        return (live!.metadata.annotations!['dev.platform/longer-names'] ?? '').split(',').filter(one => one !== '')
      }),
    )
    const [many, a, b] = kept
    expect([many, a, b].map(one => one!.toSorted())).toEqual([names.slice(1).toSorted(), [names[3]], [names[4]]])
  })

  test('hosts reserved for a namespace are free again after its deletion', async () => {
    const { world, parts } = platform
    const fay = await platform.person('fay')
    const create = async (name: string) =>
      expect((await platform.call('POST /namespaces', { token: fay.token, body: { name } })).status).toBe(200)
    const kept = async () => {
      const live = await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: fay.home })
      return live?.metadata.annotations?.['dev.platform/longer-names']
    }
    const [gone, stays] = [`a-${fay.home}`, `b-${fay.home}`]
    await create(gone)
    await create(stays)
    expect(await kept()).toBe(`${gone},${stays}`)
    const task = longerNamesTask(world, parts.longerNames)
    const look = () => task.run(AbortSignal.timeout(60_000))
    await look()
    await platform.cluster.delete({ apiVersion: 'v1', kind: 'Namespace', name: gone })
    await eventually(`${gone} is gone`, async () =>
      (await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: gone })) ? undefined : true,
    )
    await look()
    // The first pass keeps the name: a namespace that is just being created does not exist yet, either.
    expect(await kept()).toBe(`${gone},${stays}`)
    await look()
    expect(await kept()).toBe(stays)
    await create(gone)
    expect(await kept()).toBe(`${gone},${stays}`)
  })

  test('a new namespace takes no host that another one uses', async () => {
    const cleo = await platform.person('cleo')
    const host = `old-${ns}.${DOMAIN}`
    await platform.cluster.create(route({ rules: [rule(host)] }))
    const create = () => platform.call('POST /namespaces', { token: cleo.token, body: { name: `old-${ns}` } })
    expect((await create()).error).toMatchObject({ code: 'platform/exists', message: expect.stringContaining(host) })
    const live = await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: ns })
    expect(live?.metadata.annotations?.['dev.platform/longer-names']).toBe(longer)
    await platform.cluster.delete(ref)
    expect((await create()).status).toBe(200)
    await refused(platform.cluster.create(route({ rules: [rule(host)] })), 'it is taken now')
  })

  test('a new namespace takes no host that a route of the Gateway API uses', async () => {
    const eve = await platform.person('eve')
    // The earlier tests show that a cluster without the Gateway API works.
    const made: KubeObject[] = []
    const kinds = few<(typeof GATEWAY_ROUTES)[number]>(GATEWAY_ROUTES)
    for (const [kind, plural, version] of kinds)
      if (!(await platform.cluster.resource(`${GATEWAY}/${version}`, kind))) {
        made.push(await platform.cluster.create(definition(kind, plural, version)))
        await eventually(`${kind} is served`, async () =>
          (await platform.cluster.resource(`${GATEWAY}/${version}`, kind)) ? true : undefined,
        )
      }
    try {
      for (const [kind, , version] of kinds) {
        const name = `${kind.toLowerCase()}-${ns}`
        const [apiVersion, host] = [`${GATEWAY}/${version}`, `web-${name}.${DOMAIN}`]
        const where = { apiVersion, kind, name: 'web', namespace: ns }
        const matching = (value: string) => ({
          hostnames: [host],
          rules: [
            {
              matches: [
                kind === 'GRPCRoute'
                  ? { method: { type: 'RegularExpression', service: 'x', method: value } }
                  : { method: 'GET', path: { value: `/${value}` } },
              ],
            },
          ],
        })
        const spec = kind === 'TLSRoute' ? { hostnames: [host] } : matching('y')
        const one = { apiVersion, kind, metadata: { name: 'web', namespace: ns }, spec }
        await eventually(`${kind} can be created`, () =>
          platform.cluster.create(one).then(
            () => true,
            error => (error.failure === 'not-found' ? undefined : Promise.reject(error)),
          ),
        )
        if (kind !== 'TLSRoute') {
          const quoted = { ...one, metadata: { ...one.metadata, name: 'quoted' }, spec: matching('y`) || Host(`z') }
          await refused(platform.cluster.create(quoted), `${kind}: a match contains a backtick`)
        }
        const create = () => platform.call('POST /namespaces', { token: eve.token, body: { name } })
        expect((await create()).error, kind).toMatchObject({
          code: 'platform/exists',
          message: `the host \`${host}\` is in use, and would belong to \`${name}\``,
        })
        await platform.cluster.delete(where)
        expect((await create()).status, kind).toBe(200)
        await refused(platform.cluster.create(one), `${kind}: it is taken now`)
      }
    } finally {
      for (const { apiVersion, kind, metadata } of made)
        await platform.cluster.delete({ apiVersion, kind, name: metadata.name })
    }
  })
})

const GATEWAY = 'gateway.networking.k8s.io'
const GATEWAY_ROUTES = [
  ['HTTPRoute', 'httproutes', 'v1'],
  ['GRPCRoute', 'grpcroutes', 'v1'],
  ['TLSRoute', 'tlsroutes', 'v1alpha2'],
] as const

/** Returns a definition of a kind with only the fields that hold hosts. */
const definition = (kind: string, plural: string, version: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${plural}.${GATEWAY}`,
    annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/3328' },
  },
  spec: {
    group: GATEWAY,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
})
