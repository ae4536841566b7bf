import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, test } from 'vitest'
import type { PlatformOverview, ShownSettings } from '../../../../../platform/api/admin.ts'
import type { NamespaceDetails } from '../../../../../platform/api/namespaces.ts'
import { Analytics } from '../../../../../platform/web/pages/admin/analytics.tsx'
import { Overview } from '../../../../../platform/web/pages/admin/overview.tsx'
import { PlatformSettings } from '../../../../../platform/web/pages/admin/settings.tsx'
import { DeleteFailed } from '../../../../../platform/web/pages/namespace/delete-failed.tsx'
import { bytes } from '../../../../../platform/web/state/bytes.ts'
import { putResource } from '../../../../../platform/web/state/resource.ts'

const NASTY = '<img src=x onerror=alert(1)>\u202egnp.exe'

/** The words of a page, as they are read. */
const wordsOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

const OVERVIEW: PlatformOverview = {
  version: '0.1.0',
  replica: 'platform-a',
  leader: 'platform-b',
  workloads: [{ name: 'deployment/platform', namespace: 'devctl-platform', ready: 1, wanted: 2 }],
  problems: [{ message: '`deployment/platform`: 1 of 2 ready', hint: '`devctl platform status` says why' }],
  dependencies: [
    { kind: 'oidc', name: 'Git', address: 'https://git.example.com', state: 'failed', checked: '2026-11-23T14:55:00Z' },
    { kind: 'forge', name: NASTY, address: 'https://forge.example.com', state: 'unknown' },
  ],
  users: { all: 12, admins: 1, suspended: 0 },
  namespaces: { all: 31, awake: 12, asleep: 17, deleting: 1, failed: 1, previews: 9 },
  failed: [{ name: 'stuck', problem: NASTY }],
  runs: { queued: 2, running: 10, most: 10 },
  pools: [{ name: 'default', builders: [{ address: 'tcp://builder-0:1234', running: 3 }], atOnce: 4, waiting: 5 }],
  disk: {
    claims: [{ of: 'statefulset/builder', each: '50Gi', count: 2 }],
    history: { runs: 120, logs: 80, most: 80 * 900 * 1024 },
  },
  sealing: { kept: 'secret', seals: 2, opens: [1, 2] },
}

describe('the overview', () => {
  const shown = (change: Partial<PlatformOverview> = {}) => {
    putResource('GET /admin/overview', {}, { ...OVERVIEW, ...change })
    return renderToString(h(Overview, {}))
  }

  test('the overview shows the state of the platform, with problems first', () => {
    const html = shown()
    const text = wordsOf(html)
    expect(text).toContain('1 problem deployment/platform : 1 of 2 ready devctl platform status says why')
    for (const part of [
      'Namespaces 31 12 awake, 17 asleep, 1 deleting',
      'People 12 1 administrator',
      'Active runs 10 limit 10, 2 queued',
      'Active builds 3 5 queued',
      'deployment/platform Not ready 1 of 2',
      // There are two replicas.
      'Only builds through platform-a. Other replicas may have more.',
      '3 of 4',
      'Git Login Failed https://git.example.com',
      'Webhooks Unknown https://forge.example.com',
      'Builder caches 2 × 50Gi',
      '120 runs, with up to 70 MiB of logs',
      'Encrypts with k2 Decrypts with k1 k2',
    ])
      expect(text).toContain(part)
    expect(html).not.toContain('<img')
    expect(text).toContain('\\u{202e}gnp.exe')
  })

  test('the overview shows that there are no problems, and what the server cannot see', () => {
    const { leader: _, ...others } = OVERVIEW
    const text = wordsOf(
      shown({
        ...others,
        workloads: [],
        problems: [],
        failed: [],
        pools: [],
        disk: { claims: [] },
        sealing: { seals: 1, opens: [1] },
      }),
    )
    for (const part of [
      'No problems',
      'The server cannot see its workloads',
      'No builders',
      'counting…',
      'Unknown. The server was installed by an older version',
    ])
      expect(text).toContain(part)
    expect(text).not.toContain('Failed to delete')
  })
})

test('the settings page shows the key of each setting, and the rules of CI jobs', () => {
  const settings: ShownSettings = {
    domain: 'dev.example.com',
    url: 'https://platform.dev.example.com',
    kubernetes: 'https://k.example.com',
    namespacesPerUser: 5,
    previewsPerUser: 50,
    sleepHours: { namespace: 3, preview: 0.5 },
    deleteHours: { namespace: 336, preview: 0 },
    runs: { image: 'runner:1', perUser: 3, inAll: 10, deadline: 3600 },
    providers: [{ id: 'oidc', name: 'Git', kind: 'oidc', address: 'https://git.example.com', allow: ['groups=dev'] }],
    ci: [{ kind: 'gitea', issuer: 'https://git.example.com', rules: [{ repository: '7', prefix: 'shop-' }] }],
    registryTokens: false,
    clusterNetworks: ['10.42.0.0/16'],
    privateNetworks: [],
    trustedProxies: [],
  }
  putResource('GET /settings', {}, settings)
  const html = renderToString(h(PlatformSettings, {}))
  const text = wordsOf(html)
  for (const part of [
    'edit configmap settings',
    'namespacesPerUser 5',
    'sleepHours namespaces after 3 h, previews after 30 min',
    'deleteHours namespaces after 14 d, previews never',
    'runs.deadline 1 h',
    'Git OpenID Connect https://git.example.com groups=dev',
    'Gitea https://git.example.com 7 any any pushes and pull requests shop-…',
    'trustedProxies none',
  ])
    expect(text).toContain(part)
  // The page changes nothing.
  expect(html).not.toMatch(/<(input|select|form)/)
})

test('analytics are a table, with bars that show the same numbers', () => {
  const today = new Date().toISOString().slice(0, 10)
  const commands = { deploy: { done: 3, failed: 1, '10s': 4 }, other: { done: 1, '1s': 1 } }
  putResource(
    'GET /admin/analytics',
    {},
    { items: [{ day: today, commands, versions: { '0.1.0': 5 }, systems: { linux: 5 } }] },
  )
  const html = renderToString(h(Analytics, {}))
  const text = wordsOf(html)
  for (const part of ['5 commands', `${today}: 5`, 'devctl deploy 4 25% 10 s', 'others 1 0% 1 s', '0.1.0 5', 'linux 5'])
    expect(text).toContain(part)
  expect(html.match(/class="meter" aria-hidden="true"/g)).toHaveLength(4)
  putResource('GET /admin/analytics', {}, { items: [] })
  expect(wordsOf(renderToString(h(Analytics, {})))).toContain('No data yet')
})

describe('a namespace that could not be deleted', () => {
  const namespace: NamespaceDetails = {
    name: 'stuck',
    kind: 'namespace',
    status: 'DeleteFailed',
    owner: { id: 'a', login: 'ann' },
    created: '',
    lastActive: '',
    deleteProblem: NASTY,
    members: [],
  }
  const of = { state: { value: {} }, refresh: async () => {}, put: () => {} } as unknown as Parameters<
    typeof DeleteFailed
  >[0]['of']
  const shown = (change: Partial<NamespaceDetails>) =>
    renderToString(h(DeleteFailed, { namespace: { ...namespace, ...change }, of }))

  test('the reason is shown as text, and the owner can try again or delete it anyway', () => {
    const html = shown({ role: 'owner' })
    expect(html).not.toContain('<img')
    expect(wordsOf(html)).toContain('\\u{202e}gnp.exe')
    expect(wordsOf(html)).toMatch(/Try again Delete anyway/)
  })

  test('members other than the owner get no buttons', () => {
    expect(shown({ role: 'developer' })).not.toContain('<button')
    expect(shown({ role: 'viewer' })).not.toContain('<button')
  })
})

test.each([
  [0, '0 B'],
  [900 * 1024, '900 KiB'],
  [1_572_864, '1.5 MiB'],
  [10_000_000, '9.5 MiB'],
  [5 * 1024 ** 4, '5 TiB'],
  [5000 * 1024 ** 4, '5000 TiB'],
])('%d bytes are shown as %s', (number, text) => {
  expect(bytes(number)).toBe(text)
})
