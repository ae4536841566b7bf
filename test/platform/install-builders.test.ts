import { describe, expect, test } from 'vitest'
import { ingressPeers, wantedBuilders } from '../../operations/platform/install-builders.ts'
import { platformObjects, undecided } from '../../platform/install/server.ts'
import { readSettings } from '../../platform/server/settings.ts'
import { MemoryCluster } from '../memory-cluster/memory-cluster.ts'

const NONE = { builders: undefined, builderSize: undefined, builderNetworks: undefined }
const OWN = { image: 'buildkit:1', count: 2, size: '50Gi', networks: [] }
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
] as const)('%s', (_, input, settings, wanted) => {
  const { kept, bundledBuilders } = wantedBuilders(input, settings, 'buildkit:1')
  expect(bundledBuilders).toEqual(wanted)
  expect(kept['bundledBuilders']).toBeUndefined()
})

test('builders that an administrator has named stay, and the settings of those that are brought', () => {
  const named = { builders: { default: ['tcp://b:1234'] } }
  expect(wantedBuilders(NONE, named, 'x').kept).toEqual(named)
  expect(wantedBuilders({ ...NONE, builders: '0' }, HAD, 'x').kept).toEqual({ sleepHours: {} })
  expect(wantedBuilders(NONE, HAD, 'x').kept).toMatchObject({ builders: { atOnce: 2 } })
})

test('what does not go together is refused', () => {
  expect(() => wantedBuilders({ ...NONE, builderSize: '9Gi' }, {}, 'x')).toThrow('need `--builders`')
  expect(() => wantedBuilders({ ...NONE, builderSize: '9Gi' }, HAD, 'x')).toThrow('have 50Gi')
  expect(() => wantedBuilders({ ...NONE, builders: '1', builderNetworks: 'all' }, {}, 'x')).toThrow(
    'no network of IPv4',
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

test('builders run as a user without capabilities or a token, each step with processes of its own', () => {
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

test('nobody reaches builders but the server; builds reach what is outside, and the ingress', () => {
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
      { to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16', '10.42.0.0/16'] } }] },
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

test('the server sees how they are, where they are, and nothing else of their namespace', () => {
  const roles = (all: typeof objects) =>
    all.filter(one => one.metadata.namespace === 'devctl-build' && one.kind === 'Role')
  expect(roles(objects).map(({ rules }) => rules)).toEqual([
    [{ apiGroups: ['apps'], resources: ['statefulsets'], resourceNames: ['builder'], verbs: ['get'] }],
  ])
  const { bundledBuilders: _, ...without } = INSTALLATION
  expect(roles(platformObjects(without))).toEqual([])
})

test('the server knows them, and an upgrade keeps that', () => {
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

  test('is what has the address of the platform, at the port of HTTPS only', async () => {
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

  test('has the number of a port with a name, where Pods are there, and else the name', async () => {
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
