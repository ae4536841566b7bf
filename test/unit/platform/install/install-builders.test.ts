import { describe, expect, test } from 'vitest'
import { ingressPeers, wantedBuilders } from '../../../../platform/install/install-builders.ts'
import { neededSecrets } from '../../../../platform/install/install-secrets.ts'
import { platformObjects, undecided, unwantedObjects } from '../../../../platform/install/manifests/server.ts'
import { toOutside } from '../../../../platform/records/network-rules.ts'
import { readSettings } from '../../../../platform/server/settings.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

const NONE = { builders: undefined, untrustedBuilders: undefined, builderSize: undefined, builderNetworks: undefined }
const OWN = { image: 'buildkit:1', count: 2, untrusted: 0, size: '50Gi', networks: [] }
const HAD = {
  bundledBuilders: { count: 2, size: '50Gi', networks: ['10.1.0.9/32'] },
  builders: { atOnce: 2 },
  sleepHours: {},
}

test.each([
  ['nothing is said, and there were none', NONE, {}, undefined],
  ['two', { ...NONE, builders: '2' }, {}, OWN],
  [
    'with a size and a network',
    { ...NONE, builders: '2', builderSize: '9Gi', builderNetworks: '10.1.0.9/32' },
    {},
    { ...OWN, size: '9Gi', networks: ['10.1.0.9/32'] },
  ],
  ['as before', NONE, HAD, { ...OWN, networks: ['10.1.0.9/32'] }],
  ['one more', { ...NONE, builders: '3' }, HAD, { ...OWN, count: 3, networks: ['10.1.0.9/32'] }],
  ['none any more', { ...NONE, builders: '0' }, HAD, undefined],
  ['one for forks, too', { ...NONE, untrustedBuilders: '1' }, HAD, { ...OWN, untrusted: 1, networks: ['10.1.0.9/32'] }],
  ['those for forks only', { ...NONE, untrustedBuilders: '1' }, {}, { ...OWN, count: 0, untrusted: 1 }],
  [
    'those for forks as before, and no others any more',
    { ...NONE, builders: '0' },
    { bundledBuilders: { ...OWN, untrusted: 3 } },
    { ...OWN, count: 0, untrusted: 3 },
  ],
] as const)('wantedBuilders finds the wanted builders: %s', (_, input, settings, wanted) => {
  const { kept, bundledBuilders } = wantedBuilders(input, settings, 'buildkit:1')
  expect(bundledBuilders).toEqual(wanted)
  expect(kept['bundledBuilders']).toBeUndefined()
})

test('named builders stay, and bundled builders keep their settings', () => {
  const named = { builders: { default: ['tcp://b:1234'] } }
  expect(wantedBuilders(NONE, named, 'x').kept).toEqual(named)
  expect(wantedBuilders({ ...NONE, builders: '0' }, HAD, 'x').kept).toEqual({ sleepHours: {} })
  expect(wantedBuilders(NONE, HAD, 'x').kept).toMatchObject({ builders: { atOnce: 2 } })
  const both = {
    bundledBuilders: { ...OWN, count: 0, untrusted: 1 },
    builders: { ...named.builders, untrusted: ['tcp://u:1'], untrustedServerName: 'u', serverName: 'b' },
  }
  expect(wantedBuilders({ ...NONE, untrustedBuilders: '0' }, both, 'x').kept).toEqual({
    builders: { ...named.builders, serverName: 'b' },
  })
})

test('wantedBuilders refuses options that do not fit together', () => {
  expect(() => wantedBuilders({ ...NONE, builderSize: '9Gi' }, {}, 'x')).toThrow('need `--builders`')
  expect(() => wantedBuilders({ ...NONE, builderSize: '9Gi' }, HAD, 'x')).toThrow('have 50Gi')
  const forks = { bundledBuilders: { ...OWN, count: 0, untrusted: 1 } }
  expect(wantedBuilders({ ...NONE, builderSize: '9Gi' }, forks, 'x').bundledBuilders?.size).toBe('9Gi')
  expect(() => wantedBuilders({ ...NONE, builders: '1', builderNetworks: 'all' }, {}, 'x')).toThrow(
    'not an IPv4 network',
  )
})

const INSTALLATION = {
  version: '1',
  domain: 'dev.example.com',
  image: 'platform:1',
  runnerImage: 'runner:1',
  replicas: 1,
  clusterNetworks: ['10.42.0.0/16'],
  kubernetes: { server: 'https://k.example.com' },
  bundledBuilders: { ...OWN, networks: ['10.1.0.9/32'] },
  ingressPeers: [{ namespace: 'traefik', labels: { app: 'traefik' }, ports: [8443] }],
  trusted: 'PEM',
}
const objects = platformObjects(INSTALLATION)
const find = (kind: string, name: string) =>
  objects.find(one => one.kind === kind && one.metadata.name === name && one.metadata.namespace !== 'devctl-runs')

test('builders run as a user without a token, and each step has its own processes', () => {
  const set = find('StatefulSet', 'builder')
  expect(set).toMatchObject({
    metadata: { namespace: 'devctl-build' },
    spec: {
      replicas: 2,
      template: {
        spec: {
          automountServiceAccountToken: false,
          containers: [{ securityContext: { runAsUser: 1000, runAsNonRoot: true } }],
        },
      },
    },
  })
  expect(find('Namespace', 'devctl-build')?.metadata.labels).not.toHaveProperty('dev.platform/managed')
  const { 'buildkitd.toml': config = '' } = find('ConfigMap', 'builder')!['data'] as Record<string, string>
  expect(config).toContain('noProcessSandbox = false')
  // Steps share the network of the Pod: without a certificate they could ask BuildKit itself.
  expect(config).toMatch(/\[grpc\.tls\]\n {2}ca = /)
  expect(config).not.toContain('unix://')
  expect(config).toContain('maxUsedSpace = "40960MB"')
})

test('only the server reaches builders; builds reach the outside and the ingress controller', () => {
  expect(find('NetworkPolicy', 'builder')?.['spec']).toEqual({
    podSelector: {},
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      {
        from: [
          {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'devctl-platform' } },
            podSelector: { matchLabels: { 'app.kubernetes.io/name': 'platform' } },
          },
        ],
        ports: [{ protocol: 'TCP', port: 1234 }],
      },
    ],
    egress: [
      expect.objectContaining({ ports: expect.arrayContaining([{ protocol: 'UDP', port: 53 }]) }),
      toOutside(INSTALLATION),
      { to: [{ ipBlock: { cidr: '10.1.0.9/32' } }], ports: [{ protocol: 'TCP', port: 443 }] },
      {
        to: [
          {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'traefik' } },
            podSelector: { matchLabels: { app: 'traefik' } },
          },
        ],
        ports: [{ protocol: 'TCP', port: 8443 }],
      },
    ],
  })
})

test('the server may read the StatefulSet of builders, and nothing else of their namespace', () => {
  const roles = (all: typeof objects) =>
    all.filter(one => one.metadata.namespace === 'devctl-build' && one.kind === 'Role')
  expect(roles(objects).map(({ rules }) => rules)).toEqual([
    [{ apiGroups: ['apps'], resources: ['statefulsets'], resourceNames: ['builder'], verbs: ['get'] }],
  ])
  const { bundledBuilders: _, ...without } = INSTALLATION
  expect(roles(platformObjects(without))).toEqual([])
})

test('the server knows the bundled builders, and an upgrade keeps them', () => {
  const text = (find('ConfigMap', 'settings')!['data'] as Record<string, string>)['settings.json']!
  expect(readSettings(text).builders).toEqual({
    default: [0, 1].map(at => `tcp://builder-${at}.builder.devctl-build.svc:1234`),
    untrusted: [],
    atOnce: 4,
    certificates: '/etc/devctl-builders',
    serverName: 'builder.devctl-build.svc',
    oneNamespace: true,
  })
  expect(wantedBuilders(NONE, undecided(JSON.parse(text)), 'buildkit:1').bundledBuilders).toEqual(
    INSTALLATION.bundledBuilders,
  )
})

describe('builders for code of forks', () => {
  const installed = (count: number, untrusted: number) =>
    platformObjects({ ...INSTALLATION, bundledBuilders: { ...INSTALLATION.bundledBuilders, count, untrusted } })
  const named = (all: typeof objects, kind: string, name: string) =>
    all.find(one => one.kind === kind && one.metadata.name === name)
  const settingsOf = (all: typeof objects) => {
    const found = all.find(one => one.kind === 'ConfigMap' && one.metadata.namespace === 'devctl-platform')
    return readSettings((found!['data'] as Record<string, string>)['settings.json']!).builders
  }

  test('builders for forks are a separate pool with their own Pods, names and certificates', () => {
    const all = installed(2, 1)
    expect(settingsOf(all)).toEqual({
      default: [0, 1].map(at => `tcp://builder-${at}.builder.devctl-build.svc:1234`),
      untrusted: ['tcp://builder-untrusted-0.builder-untrusted.devctl-build.svc:1234'],
      atOnce: 4,
      certificates: '/etc/devctl-builders',
      serverName: 'builder.devctl-build.svc',
      untrustedCertificates: '/etc/devctl-untrusted-builders',
      untrustedServerName: 'builder-untrusted.devctl-build.svc',
      oneNamespace: true,
    })
    const secretsOf = (name: string) => JSON.stringify(named(all, 'StatefulSet', name)).match(/"secretName":"[^"]+"/g)
    expect(secretsOf('builder')).toEqual(['"secretName":"builders"'])
    expect(secretsOf('builder-untrusted')).toEqual(['"secretName":"untrusted-builders"'])
    const selectors = ['builder', 'builder-untrusted'].map(name => {
      const { selector } = named(all, 'Service', name)!['spec'] as { readonly selector: object }
      return selector
    })
    expect(selectors).toEqual([
      { 'app.kubernetes.io/name': 'builder' },
      { 'app.kubernetes.io/name': 'builder-untrusted' },
    ])
    // The policy selects all Pods in the namespace: only the server may connect.
    expect(named(all, 'NetworkPolicy', 'builder')).toMatchObject({ spec: { podSelector: {} } })
  })

  test('builders for forks keep no disk or cache, and have limits of memory and CPU', () => {
    const set = named(installed(2, 1), 'StatefulSet', 'builder-untrusted')
    expect(set?.['spec']).not.toHaveProperty('volumeClaimTemplates')
    expect(set).toMatchObject({
      spec: {
        replicas: 1,
        template: {
          spec: {
            automountServiceAccountToken: false,
            containers: [{ resources: { limits: { memory: '4Gi', cpu: '2' } } }],
            volumes: expect.arrayContaining([{ name: 'data', emptyDir: { sizeLimit: '50Gi' } }]),
          },
        },
      },
    })
    const config = JSON.stringify(named(installed(2, 1), 'ConfigMap', 'builder-untrusted'))
    expect(config).toContain('keepDuration = \\"1s\\"')
    expect(config).not.toContain('maxUsedSpace')
  })

  test('builders for forks can exist alone, and are deleted when they are not wanted', () => {
    const only = installed(0, 1)
    expect(named(only, 'StatefulSet', 'builder')).toBeUndefined()
    expect(settingsOf(only)).toMatchObject({ default: [], untrusted: [expect.any(String)] })
    const seen = (all: typeof objects) =>
      all
        .filter(({ kind, metadata }) => kind === 'Role' && metadata.namespace === 'devctl-build')
        .flatMap(({ rules }) =>
          (rules as readonly { readonly resourceNames: readonly string[] }[]).flatMap(one => one.resourceNames),
        )
    expect(seen(only)).toEqual(['builder-untrusted'])
    expect(seen(installed(1, 1))).toEqual(['builder', 'builder-untrusted'])
    const gone = unwantedObjects({
      ...INSTALLATION,
      bundledBuilders: { ...INSTALLATION.bundledBuilders, untrusted: 0 },
    })
    expect(gone.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
      expect.arrayContaining([
        'StatefulSet builder-untrusted',
        'Service builder-untrusted',
        'ConfigMap builder-untrusted',
      ]),
    )
  })

  test('builders for forks have their own Secrets', () => {
    const secrets = (count: number, untrusted: number) => [
      ...neededSecrets({ ...INSTALLATION, bundledBuilders: { ...OWN, count, untrusted } }),
    ]
    expect(secrets(0, 1)).toEqual([
      ['devctl-platform', ['keys', 'untrusted-builders']],
      ['devctl-build', ['untrusted-builders']],
    ])
    expect(secrets(1, 1)[1]).toEqual(['devctl-build', ['builders', 'untrusted-builders']])
  })
})

describe('the ingress controller', () => {
  const HOST = '192.0.2.7'
  const cluster = new MemoryCluster({ namespaces: ['traefik', 'shop'] })
  const slices = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' }
  cluster.register({ ...slices, name: 'endpointslices', namespaced: true, hasStatus: false })
  const service = async (name: string, ip: string | undefined, spec: object, namespace = 'shop') => {
    const ref = { apiVersion: 'v1', kind: 'Service' }
    const all = { type: 'LoadBalancer', selector: { app: name }, ...spec }
    await cluster.create({ ...ref, metadata: { name, namespace }, spec: all })
    const status = { loadBalancer: { ingress: [{ ip }] } }
    if (ip !== undefined) cluster.act({ ...ref, name, namespace }, object => ({ ...object, status }))
  }
  const found = (host = HOST) => ingressPeers(cluster, host, AbortSignal.timeout(5000))
  const ports = (targetPort?: number | string) => ({
    ports: [
      { name: 'http', port: 80, targetPort: 8000 },
      { name: 'https', port: 443, ...(targetPort !== undefined && { targetPort }) },
    ],
  })

  test('the ingress controller is found by the address of the platform, at the HTTPS port only', async () => {
    await service('database', '192.0.2.8', { ports: [{ port: 443, targetPort: 5432 }] })
    await service('other-port', HOST, { ports: [{ port: 5432 }] })
    await service('waiting', undefined, ports(8443))
    await service('named', undefined, { ...ports(8443), type: 'ClusterIP', externalIPs: [HOST] })
    expect(await found()).toEqual([{ cidr: '192.0.2.7/32' }])
    await service('traefik', HOST, ports(8443), 'traefik')
    const pods = { namespace: 'traefik', labels: { app: 'traefik' } }
    expect(await found()).toEqual([{ cidr: '192.0.2.7/32' }, { ...pods, ports: [8443] }])
    expect(await found('192.0.2.9')).toEqual([{ cidr: '192.0.2.9/32' }])
    expect(await found('platform.invalid')).toEqual([])
  })

  test('a named port of the ingress controller is resolved to its number where endpoints exist', async () => {
    await service('nginx', '192.0.2.10', ports('websecure'), 'traefik')
    const pods = { namespace: 'traefik', labels: { app: 'nginx' } }
    expect(await found('192.0.2.10')).toContainEqual({ ...pods, ports: ['websecure'] })
    await cluster.create({
      ...slices,
      metadata: { name: 'nginx-1', namespace: 'traefik', labels: { 'kubernetes.io/service-name': 'nginx' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.42.0.9'] }],
      ports: [
        { name: 'http', port: 8000 },
        { name: 'https', port: 8443 },
      ],
    })
    expect(await found('192.0.2.10')).toContainEqual({ ...pods, ports: [8443] })
  })
})
