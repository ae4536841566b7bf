import { expect, test } from 'vitest'
import { IDLENESS } from '../../../../platform/rules/runs/idleness.ts'
import { readSettings } from '../../../../platform/server/settings.ts'

const good = {
  domain: 'dev.example.com',
  url: 'https://p.example.com',
  kubernetes: { server: 'https://k.example.com' },
}

test('settings have defaults', () => {
  expect(readSettings(JSON.stringify(good))).toEqual({
    ...good,
    namespacesPerUser: 5,
    previewsPerUser: 50,
    providers: [],
    clusterNetworks: [],
    privateNetworks: [],
    ci: [],
    forges: [],
    trustedProxies: [],
    idleness: IDLENESS,
  })
  const { sleep } = readSettings(JSON.stringify({ ...good, sleepHours: { preview: 0.5 } })).idleness
  expect(sleep).toEqual({ namespace: 3 * 3_600_000, preview: 1_800_000 })
})

const oidc = { kind: 'oidc', id: 'oidc', name: 'Git', issuer: 'https://git.example.com', clientId: 'devctl', allow: [] }
const github = {
  kind: 'github',
  id: 'github',
  name: 'GitHub',
  url: 'https://github.com',
  clientId: 'x',
  allow: ['acme/dev'],
}

test('settings contain the login providers', () => {
  const providers = [oidc, github]
  expect(readSettings(JSON.stringify({ ...good, providers })).providers).toEqual(providers)
})

test('limits of namespaces are those of a ResourceQuota', () => {
  const quota = { 'count/certificates.cert-manager.io': '50', 'requests.memory': '32Gi', 'requests.cpu': '500m' }
  expect(readSettings(JSON.stringify({ ...good, quota })).quota).toEqual(quota)
})

test('builders are named by their addresses', () => {
  const builders = { default: ['tls://builder-0.builders:1234'], certificates: '/etc/devctl/builders' }
  const read = readSettings(JSON.stringify({ ...good, builders, registry: 'registry.example.com' }))
  expect(read).toMatchObject({ builders: { ...builders, untrusted: [], atOnce: 4 }, registry: 'registry.example.com' })
})

test.each([
  [{ domain: '' }, '`domain` is not text'],
  [{ url: 1 }, '`url` is not text'],
  [{ kubernetes: null }, '`kubernetes.server` is not text'],
  [{ kubernetes: { server: 'https://k', ca: 1 } }, '`kubernetes.ca` is not text'],
  [
    { ci: [{ kind: 'github', issuer: 'https://ci.example.com', rules: [{ prefix: 'shop-' }] }] },
    '`ci[0].rules[0]` is not a rule: it needs `repository` or `owner`',
  ],
  [{ ci: [{ kind: 'other', issuer: 'https://ci.example.com', rules: [] }] }, '`ci[0].kind` is none of `github`'],
  [{ ci: [{ kind: 'gitea', issuer: 'ci', rules: [] }] }, '`ci[0].issuer` is not a URL'],
  [{ ci: [{ kind: 'gitea', issuer: 'https://ci.example.com' }] }, '`ci[0].rules` is not a list'],
  [{ registryShare: 0 }, '`registryShare` is not a share of the disk'],
  [{ registryShare: 20 }, '`registryShare` is not a share of the disk'],
  [{ quota: ['pods'] }, '`quota` is not a map of limits'],
  [{ quota: { pods: 5 } }, '`quota`: `pods` has no limit as text'],
  [{ quota: { 'count/x y': '5' } }, '`quota`: `count/x y` is not a resource of a ResourceQuota'],
  [{ quota: { 'requests.memory': '500K' } }, '`quota`: `requests.memory` is `500K`: `K` is not a valid unit'],
  [{ registry: 'https://registry.example.com' }, '`registry` is not a registry'],
  [{ trustedProxies: ['all'] }, '`trustedProxies` is not a list'],
  [{ trustedProxies: ['10.0.0.0/33'] }, '`trustedProxies` is not a list'],
  [{ providers: {} }, '`providers` is not a list'],
  [{ providers: [{ ...oidc, allow: undefined }] }, '`providers[0]` is incomplete: it needs `kind`'],
  [{ providers: [{ ...oidc, allow: ['groups=dev'] }] }, '`providers[0]` is incomplete: it needs `kind`'],
  [{ providers: [{ ...oidc, id: '../x' }] }, '`providers[0]` is incomplete: it needs `kind`'],
  [{ providers: [oidc, { ...github, allow: ['acme/dev/x'] }] }, '`providers[1]` is incomplete: it needs `kind`'],
  [{ providers: [oidc, oidc] }, 'two `providers` have the same `id`'],
  [{ builders: { default: 'tcp://a' } }, '`builders.default` is not a list of addresses'],
  [{ builders: { atOnce: 0 } }, '`builders.atOnce` is not a number of builds'],
  [{ builders: { certificates: 1 } }, '`builders.certificates` is not a folder'],
  [{ namespacesPerUser: -1 }, '`namespacesPerUser` is not a number of namespaces'],
  [{ previewsPerUser: '1' }, '`previewsPerUser` is not a number of previews'],
  [{ clusterNetworks: ['10.0.0.0'] }, '`clusterNetworks[0]` is not an IPv4 network'],
  [{ clusterNetworks: 1 }, '`clusterNetworks` is not a list'],
  [{ privateNetworks: ['10.0.0.0/16', 'fd00::/8'] }, '`privateNetworks[1]` is not an IPv4 network'],
  [{ sleepHours: { preview: -1 } }, '`sleepHours.preview` is not a number of hours'],
  [{ deleteHours: { namespace: '14d' } }, '`deleteHours.namespace` is not a number of hours'],
  [{ deleteHours: { namespace: null } }, '`deleteHours.namespace` is not a number of hours'],
  [{ deleteHours: 0 }, '`deleteHours` is not a map of hours: `{ "namespace": 3, "preview": 1 }`'],
  [{ deleteHours: false }, '`deleteHours` is not a map of hours'],
  [{ deleteHours: null }, '`deleteHours` is not a map of hours'],
  [{ deleteHours: 'never' }, '`deleteHours` is not a map of hours'],
  [{ sleepHours: 8 }, '`sleepHours` is not a map of hours'],
  [{ sleepHours: [0] }, '`sleepHours` is not a map of hours'],
  [{ registryTokens: 'true' }, '`registryTokens` is not `true` or `false`'],
  [{ runs: { image: 'x', url: 'y', authorities: 'true' } }, '`runs.authorities` is not `true` or `false`'],
])('%j is refused', (wrong, message) => {
  expect(() => readSettings(JSON.stringify({ ...good, ...wrong }))).toThrow(message)
})
