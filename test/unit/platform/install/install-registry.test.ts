import { expect, test } from 'vitest'
import { wantedRegistry } from '../../../../platform/install/install-registry.ts'
import { type Installation, platformObjects, unwantedObjects } from '../../../../platform/install/manifests/server.ts'

const NONE = { registry: undefined, registryTokens: false, bundledRegistry: false, registrySize: undefined }
const PLACE = { domain: 'dev.example.com', image: 'registry:1' }
const OWN = {
  registry: 'images.dev.example.com',
  hasRegistryTokens: true,
  bundledRegistry: { image: 'registry:1', size: '50Gi' },
}
const HAD_OWN = { registry: 'images.dev.example.com', registryTokens: true, bundledRegistry: { size: '50Gi' } }
const HAD = { registry: 'a.example.com', registryTokens: true, sleepHours: {} }

test.each([
  ['nothing is said, and there was none', NONE, {}, {}],
  ['nothing is said', NONE, HAD, { registry: 'a.example.com', hasRegistryTokens: true }],
  [
    'the same again',
    { ...NONE, registry: 'a.example.com' },
    HAD,
    { registry: 'a.example.com', hasRegistryTokens: true },
  ],
  [
    'another: it gets no tokens by itself',
    { ...NONE, registry: 'b.example.com/x' },
    HAD,
    { registry: 'b.example.com/x', hasRegistryTokens: false },
  ],
  [
    'tokens for what was there',
    { ...NONE, registryTokens: true },
    { registry: 'a.example.com' },
    { registry: 'a.example.com', hasRegistryTokens: true },
  ],
  ['one of its own', { ...NONE, bundledRegistry: true }, HAD, OWN],
  [
    'one of its own, with a size',
    { ...NONE, bundledRegistry: true, registrySize: '9Gi' },
    {},
    { ...OWN, bundledRegistry: { image: 'registry:1', size: '9Gi' } },
  ],
  ['one of its own stays', NONE, HAD_OWN, OWN],
  [
    'another in the place of its own',
    { ...NONE, registry: 'b.example.com' },
    HAD_OWN,
    { registry: 'b.example.com', hasRegistryTokens: false },
  ],
  ['its own one is taken away', { ...NONE, registry: '-' }, HAD_OWN, {}],
  ['none any more', { ...NONE, registry: '-' }, HAD, {}],
] as const)('wantedRegistry finds the wanted registry: %s', (_, input, settings, wanted) => {
  const { kept, ...registry } = wantedRegistry(input, settings, PLACE)
  expect(registry).toEqual(wanted)
  expect(Object.keys(kept)).toEqual('sleepHours' in settings ? ['sleepHours'] : [])
})

test('tokens without a registry are refused', () => {
  for (const registry of [undefined, '-'])
    expect(() => wantedRegistry({ ...NONE, registry, registryTokens: true }, {}, PLACE)).toThrow(
      '`--registry-tokens` needs a registry',
    )
})

test('wantedRegistry refuses options that do not fit together', () => {
  const both = { ...NONE, registry: 'a.example.com', bundledRegistry: true }
  expect(() => wantedRegistry(both, {}, PLACE)).toThrow('cannot be combined')
  const size = { ...NONE, registrySize: '9Gi' }
  expect(() => wantedRegistry(size, {}, PLACE)).toThrow('needs `--bundled-registry`')
  expect(() => wantedRegistry(size, HAD_OWN, PLACE)).toThrow('has 50Gi')
})

const INSTALLATION = {
  version: '1',
  domain: 'dev.example.com',
  image: 'platform:1',
  runnerImage: 'runner:1',
  replicas: 1,
  kubernetes: { server: 'https://k.example.com' },
  bundledRegistry: { image: 'registry:1', size: '9Gi' },
}

test('the bundled registry gets the certificate for tokens without the key, and no egress', () => {
  const objects = platformObjects(INSTALLATION).filter(({ metadata }) => metadata.name === 'registry')
  const kinds = objects.map(({ kind }) => kind)
  expect(kinds).toEqual(['ConfigMap', 'NetworkPolicy', 'Service', 'StatefulSet', 'Ingress'])
  const [config, policy, , set] = objects
  expect(policy).toMatchObject({ spec: { policyTypes: ['Egress'] } })
  expect(policy).not.toHaveProperty('spec.egress')
  // The names of its settings begin with `REGISTRY_`, as those for a Service of its name do.
  expect(set).toMatchObject({ spec: { template: { spec: { enableServiceLinks: false } } } })
  expect(JSON.parse((config!['data'] as Record<string, string>)['config.yml']!).auth).toEqual({
    token: {
      realm: 'https://platform.dev.example.com/api/v1/registry/token',
      service: 'images.dev.example.com',
      issuer: 'https://platform.dev.example.com',
      rootcertbundle: '/etc/registry-trust/tls.crt',
    },
  })
  const { volumes, containers, automountServiceAccountToken } = (set!['spec'] as PodOwner).template.spec
  expect(automountServiceAccountToken).toBe(false)
  const secrets = volumes.filter(({ secret }) => secret)
  expect(secrets).toEqual([
    { name: 'trust', secret: { secretName: 'registry', items: [{ key: 'tls.crt', path: 'tls.crt' }] } },
  ])
  expect(containers).toHaveLength(2)
  expect(containers[0]).not.toHaveProperty('env')
  // The container that measures the disk cannot write to it, and mounts nothing else.
  expect(containers[1]).toMatchObject({ volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true }] })
})

interface PodOwner {
  readonly template: {
    readonly spec: {
      readonly volumes: readonly { readonly name: string; readonly secret?: object }[]
      readonly containers: readonly object[]
      readonly automountServiceAccountToken?: boolean
    }
  }
}

test('the objects of the bundled registry are deleted when it is not wanted any more', () => {
  const { bundledRegistry: _, ...without } = INSTALLATION
  const unwanted = (one: Installation) => unwantedObjects(one).filter(({ metadata }) => metadata.name === 'registry')
  expect(unwanted(INSTALLATION)).toEqual([])
  expect(unwanted(without).map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([
    'ConfigMap/registry',
    'NetworkPolicy/registry',
    'Service/registry',
    'StatefulSet/registry',
    'Ingress/registry',
  ])
})
