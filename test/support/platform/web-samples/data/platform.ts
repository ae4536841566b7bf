import type { PlatformOverview, ShownSettings } from '../../../../../platform/api/admin.ts'
import type { Info } from '../../../../../platform/api/info.ts'
import type { ReplyOf } from '../../../../../platform/api/routes.ts'
import { DAY, type MinutesAgo } from '../times.ts'
import { PROVIDER } from './people.ts'

const VERSION = '0.1.0'
const REPLICA = 'platform-6d4f9c7b5-x2k4f'
const FORGE = 'https://git.example.com'
const BUILDERS = ['tcp://builder-0.builder.devctl-build:1234', 'tcp://builder-1.builder.devctl-build:1234']

export const SAMPLE_INFO: Info = {
  version: VERSION,
  minCli: VERSION,
  domain: 'dev.example.com',
  login: [{ id: PROVIDER.id, name: PROVIDER.name }],
  kubernetes: { server: 'https://kubernetes.example.com:6443' },
  registry: 'registry.example.com',
}

type Counted = Pick<PlatformOverview, 'users' | 'namespaces' | 'runs'>

/** The state of the platform, with the given counts. One of the servers that it needs does not answer. */
export const sampleOverview = (at: MinutesAgo, counted: Counted): PlatformOverview => ({
  version: VERSION,
  replica: REPLICA,
  leader: REPLICA,
  workloads: [
    { name: 'deployment/platform', namespace: 'devctl-platform', ready: 2, wanted: 2 },
    { name: 'statefulset/builder', namespace: 'devctl-build', ready: 2, wanted: 2 },
    { name: 'statefulset/registry', namespace: 'devctl-platform', ready: 1, wanted: 1 },
  ],
  problems: [
    {
      message:
        'CI jobs of `ci.example.com` cannot log in: `https://ci.example.com` does not answer the server within 10 s',
      hint: 'check that it is running, and that firewalls and network policies let Pods of `devctl-platform` connect to it',
    },
  ],
  dependencies: [
    { kind: 'oidc', name: PROVIDER.name, address: `https://${PROVIDER.host}`, state: 'reached', checked: at(2) },
    { kind: 'ci', name: 'ci.example.com', address: 'https://ci.example.com', state: 'failed', checked: at(2) },
    { kind: 'forge', name: 'git.example.com', address: FORGE, state: 'reached', checked: at(2) },
  ],
  failed: [],
  pools: [
    {
      name: 'default',
      builders: BUILDERS.map((address, index) => ({ address, running: 1 - index })),
      atOnce: 4,
      waiting: 0,
    },
  ],
  registry: { name: 'registry.example.com', isBundled: true, hasTokens: true },
  disk: {
    claims: [
      { of: 'statefulset/builder', each: '50Gi', count: 2 },
      { of: 'statefulset/registry', each: '100Gi', count: 1 },
    ],
    history: { runs: 5, logs: 5, most: 5 * 2 ** 20 },
    registry: { size: 100 * 2 ** 30, free: 61 * 2 ** 30, left: 2 ** 30 },
  },
  sealing: { kept: 'secret', seals: 2, opens: [1, 2] },
  ...counted,
})

export const SAMPLE_SETTINGS: ShownSettings = {
  domain: 'dev.example.com',
  url: 'https://platform.dev.example.com',
  kubernetes: 'https://kubernetes.example.com:6443',
  namespacesPerUser: 5,
  previewsPerUser: 10,
  sleepHours: { namespace: 72, preview: 24 },
  deleteHours: { namespace: 0, preview: 336 },
  runs: { image: 'registry.example.com/devctl/runner:0.1.0', perUser: 4, inAll: 20, deadline: 3600 },
  providers: [
    {
      ...{ id: PROVIDER.id, name: PROVIDER.name, kind: 'oidc', address: `https://${PROVIDER.host}` },
      allow: ['example.com'],
    },
  ],
  ci: [
    {
      kind: 'gitea',
      issuer: 'https://ci.example.com',
      rules: [{ repository: '7', ref: 'refs/heads/*', prefix: 'ci-shop-' }],
    },
  ],
  builders: { default: BUILDERS, untrusted: [], atOnce: 4, oneNamespace: false },
  registry: 'registry.example.com',
  registryTokens: true,
  clusterNetworks: ['10.42.0.0/16', '10.43.0.0/16'],
  privateNetworks: ['192.168.10.0/24'],
  trustedProxies: ['10.42.0.0/16'],
}

const DAYS = 30

/** Counts of the last days, with fewer commands at weekends. */
export const sampleAnalytics = (at: MinutesAgo): ReplyOf<'GET /admin/analytics'>['items'] =>
  Array.from({ length: DAYS }, (_, ago) => {
    const day = at(ago * DAY).slice(0, 10)
    const isWeekend = [0, 6].includes(new Date(day).getUTCDay())
    const isOld = ago > DAYS / 2
    const busy = isWeekend ? 2 : 9 + ((ago * 7) % 11)
    return {
      day,
      commands: {
        deploy: { done: busy * 2, failed: 2, '10s': busy, '1m': busy, '10m': 2 },
        up: { done: busy, interrupted: 3, '10m': busy, longer: 3 },
        logs: { done: 4, interrupted: busy, '1m': busy + 4 },
        ps: { done: busy * 3, '1s': busy * 3 },
        'namespace list': { done: 3, usage: 1, '1s': 4 },
      },
      versions: { '0.1.0': busy * (isOld ? 2 : 7) + 13, ...(isOld && { '0.0.9': busy * 5 }) },
      systems: { linux: busy * 4 + 13, darwin: busy * 3 },
    }
  })
