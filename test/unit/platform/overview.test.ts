import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { platformObjects } from '../../../platform/install/manifests/server.ts'
import { fromChecks } from '../../../platform/records/dependency-checks.ts'
import { fromNamespace } from '../../../platform/records/namespace.ts'
import { fromRun, LIVE_LABEL } from '../../../platform/records/run.ts'
import { fromUser } from '../../../platform/records/user.ts'
import { BuildSlots } from '../../../platform/server/builds/build-slots.ts'
import type { ServerContext } from '../../../platform/server/context.ts'
import { createServices } from '../../../platform/server/create-services.ts'
import { toShownSettings } from '../../../platform/server/handlers/admin.ts'
import { sealingWith } from '../../../platform/server/leader/sealed.ts'
import { readSettings } from '../../../platform/server/settings.ts'
import { MemoryCluster } from '../../support/memory-cluster/memory-cluster.ts'

// A real cluster cannot be made to show these states of a platform at once.

const ID = 'a'.repeat(16)
const NOW = Date.parse('2026-11-23T15:00:00Z')
const time = '2026-11-23T14:00:00Z'
const DELETION = { id: '01kaaaaaaaaaaaaaaaaaaaaaaa', problem: 'the destroy of shop failed: error: no route' }

/** Settings that name other servers. */
const OTHERS = {
  providers: [{ kind: 'oidc', id: 'oidc', name: 'Git', issuer: 'https://git.example.com', clientId: 'x', allow: [] }],
  ci: [{ kind: 'gitlab', issuer: 'https://ci.example.com', rules: [] }],
}

const act = (
  cluster: MemoryCluster,
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
  change: (one: KubeObject) => object,
) => cluster.act({ apiVersion, kind, name, namespace }, one => ({ ...one, ...change(one) }))

async function open({
  ready = 1,
  leads = true,
  builders = true,
  providers = false,
  keys = { secret: { secretName: 'keys' } } as object,
} = {}) {
  const cluster = new MemoryCluster({
    namespaces: ['devctl-platform', 'devctl-users', 'devctl-runs', 'devctl-build'],
    now: () => NOW - 600_000,
  })
  const more = { namespaced: true, hasStatus: true }
  cluster.register({ apiVersion: 'batch/v1', kind: 'Job', name: 'jobs', ...more })
  cluster.register({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: 'leases', ...more, hasStatus: false })
  const objects = platformObjects({
    version: '0.1.0',
    domain: 'dev.example.com',
    image: 'platform:1',
    runnerImage: 'runner:1',
    replicas: 1,
    clusterNetworks: ['10.42.0.0/16'],
    privateNetworks: [],
    registry: 'images.dev.example.com',
    hasRegistryTokens: true,
    kubernetes: { server: 'https://k.example.com' },
    bundledRegistry: { image: 'registry:1', size: '40Gi' },
    bundledBuilders: { image: 'buildkit:1', count: 2, untrusted: 0, size: '50Gi', networks: [] },
  })
  const settings = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'settings')!
  for (const object of objects) {
    const { kind, spec } = object
    if (kind !== 'Deployment' && (kind !== 'StatefulSet' || (object.metadata.name === 'builder' && !builders))) continue
    await cluster.create(object)
    const { template } = spec as {
      readonly template: { readonly spec: { readonly volumes: readonly { name: string }[] } }
    }
    const volumes = template.spec.volumes.map(one => (one.name === 'keys' ? { name: 'keys', ...keys } : one))
    act(cluster, object, () => ({
      spec: { ...(spec as object), template: { ...template, spec: { ...template.spec, volumes } } },
      status: { readyReplicas: kind === 'Deployment' ? ready : (spec as { readonly replicas: number }).replicas },
    }))
  }
  const renewTime = leads ? '2026-11-23T14:59:55.000000Z' : '2026-11-23T14:59:30.000000Z'
  await cluster.create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'devctl-leader', namespace: 'devctl-platform' },
    spec: { holderIdentity: 'platform-7d49-x2k4f-0123456789', renewTime },
  })
  for (const [login, role, isSuspended] of [
    ['ann', 'admin', false],
    ['bob', 'developer', true],
  ] as const)
    await cluster.create(
      fromUser({
        id: (login[0] ?? '').repeat(16),
        issuer: 'x',
        subject: login,
        login,
        role,
        lastLogin: time,
        isSuspended,
      }),
    )
  const namespace = { owner: ID, created: time, lastActive: time, longerNames: [] }
  for (const [name, status, kind] of [
    ['shop', 'Active', 'namespace'],
    ['blog', 'Sleeping', 'namespace'],
    ['shop-login', 'Waking', 'preview'],
    ['old', 'Deleting', 'namespace'],
  ] as const)
    await cluster.create(fromNamespace({ name, kind, status, ...namespace }))
  await cluster.create(
    fromNamespace({ name: 'stuck', kind: 'namespace', status: 'DeleteFailed', ...namespace, deletion: DELETION }),
  )
  for (const [id, isLive, found] of [
    ['01kaaaaaaaaaaaaaaaaaaaaaaa', true, undefined],
    ['01kaaaaaaaaaaaaaaaaaaaaaab', false, { parts: 2, first: 1, lines: 9 }],
    ['01kaaaaaaaaaaaaaaaaaaaaaac', false, undefined],
  ] as const) {
    const wanted = { id, namespace: 'shop', namespaceUid: 'n', environment: 'e', user: ID, action: 'deploy' } as const
    const job = fromRun({ ...wanted, repository: 'https://git.example.com/team/shop' }, {})
    const { [LIVE_LABEL]: _, ...labels } = job.metadata.labels!
    const annotations = { ...job.metadata.annotations, 'dev.platform/found': JSON.stringify({ log: found }) }
    await cluster.create(isLive ? job : { ...job, metadata: { ...job.metadata, labels, annotations } })
  }
  const text = (settings['data'] as { readonly 'settings.json': string })['settings.json']
  const { certificates: _, ...named } = JSON.parse(text).builders
  const world = {
    cluster,
    settings: readSettings(JSON.stringify({ ...JSON.parse(text), builders: named, ...(providers && OTHERS) })),
    version: '0.1.0',
    now: () => NOW,
    sealing: sealingWith({
      read: () =>
        new Map([
          [1, Buffer.alloc(32, 1)],
          [2, Buffer.alloc(32, 2)],
        ]),
      now: () => NOW,
    }),
    log: () => {},
  } as unknown as ServerContext
  return { cluster, world, parts: createServices(world) }
}

describe('the overview of a platform', () => {
  test('the overview shows workloads, users, namespaces, runs, builders and disks', async () => {
    const { parts } = await open()
    const found = await parts.overviews.read()
    expect(found).toMatchObject({
      version: '0.1.0',
      leader: 'platform-7d49-x2k4f',
      workloads: [
        { name: 'deployment/platform', ready: 1, wanted: 1 },
        { name: 'statefulset/registry', ready: 1, wanted: 1 },
        { name: 'statefulset/builder', namespace: 'devctl-build', ready: 2, wanted: 2 },
      ],
      users: { all: 2, admins: 1, suspended: 1 },
      namespaces: { all: 5, awake: 2, asleep: 1, deleting: 1, failed: 1, previews: 1 },
      failed: [{ name: 'stuck', problem: DELETION.problem }],
      runs: { queued: 1, running: 0, most: 10, waitingSince: '2026-11-23T14:50:00Z' },
      pools: [{ name: 'default', atOnce: 4, waiting: 0 }],
      registry: { name: 'images.dev.example.com', isBundled: true, hasTokens: true },
      disk: {
        claims: [
          { of: 'statefulset/builder', each: '50Gi', count: 2 },
          { of: 'statefulset/registry', each: '40Gi', count: 1 },
        ],
        history: { runs: 2, logs: 2, most: 2 * 900 * 1024 },
      },
      sealing: { kept: 'secret', seals: 2, opens: [1, 2] },
    })
    expect(found.pools[0]?.builders.map(({ running }) => running)).toEqual([0, 0])
    expect(found.problems.map(({ message }) => message)).toEqual([
      'a run has been waiting for 10 min, although there is room for it',
      'a namespace could not be deleted',
    ])
  })

  test('a run that waits for other runs of its user is not reported as a run that should have begun', async () => {
    const { parts, cluster, world } = await open()
    const wanted = { namespace: 'shop', namespaceUid: 'n', user: ID, action: 'deploy' } as const
    for (let at = 0; at < world.settings.runs!.perUser; at++) {
      const id = `01k9aaaaaaaaaaaaaaaaaaaaa${at}`
      const job = fromRun(
        { ...wanted, id, environment: `running-${at}`, repository: 'https://git.example.com/team/shop' },
        {},
      )
      await cluster.create({ ...job, spec: { suspend: false } })
    }
    const { runs, problems } = await parts.overviews.read()
    expect(runs).toMatchObject({ queued: 1, running: 3, waitingSince: '2026-11-23T14:50:00Z' })
    expect(problems.map(({ message }) => message)).toEqual(['a namespace could not be deleted'])
  })

  test('the overview reports a missing leader, a server that is not ready, and missing builders', async () => {
    const { parts } = await open({ ready: 0, leads: false, builders: false })
    const { leader, problems } = await parts.overviews.read()
    expect(leader).toBeUndefined()
    expect(problems.map(({ message }) => message)).toEqual([
      'no replica leads: runs do not start, and idle namespaces stay awake',
      '`deployment/platform`: 0 of 1 ready',
      '`statefulset/builder` no longer exists',
      'a namespace could not be deleted',
    ])
  })

  test('the overview shows the servers that the platform needs, as the leader last checked them', async () => {
    const { parts, cluster } = await open({ providers: true })
    const [git, ci] = [
      { kind: 'oidc', name: 'Git', address: 'https://git.example.com' },
      { kind: 'ci', name: 'ci.example.com', address: 'https://ci.example.com', forge: 'gitlab' },
    ] as const
    expect((await parts.overviews.read()).dependencies).toEqual([
      { kind: 'oidc', name: 'Git', address: git.address, state: 'unknown' },
      { kind: 'ci', name: 'ci.example.com', address: ci.address, state: 'unknown' },
    ])
    const checked = '2026-11-23T14:59:00Z'
    await cluster.create(fromChecks({ checked, all: [{ ...git, failure: { kind: 'name' } }, ci] }))
    const found = await parts.overviews.read()
    expect(found.dependencies.map(({ state, checked }) => [state, checked])).toEqual([
      ['failed', checked],
      ['reached', checked],
    ])
    expect(found.problems.map(({ message }) => message)).toContain(
      'people cannot log in with `Git`: the name `git.example.com` does not resolve in the cluster',
    )
  })

  test('the overview shows that the keys come from another volume than a Secret', async () => {
    const { parts } = await open({ keys: { csi: { driver: 'secrets-store.csi.k8s.io' } } })
    expect((await parts.overviews.read()).sealing.kept).toBe('volume')
  })

  test('the overview omits what an older installation does not allow the server to read', async () => {
    const { parts, cluster } = await open()
    const get = cluster.get.bind(cluster)
    cluster.get = async (ref, options) => {
      if (ref.apiVersion === 'apps/v1') throw new ClusterError('forbidden', 'no')
      return get(ref, options)
    }
    const found = await parts.overviews.read()
    expect(found).toMatchObject({ workloads: [], disk: { claims: [] }, users: { all: 2 } })
    expect(found.sealing).toEqual({ seals: 2, opens: [1, 2] })
    expect(found.problems.map(({ message }) => message)).toEqual([
      'a run has been waiting for 10 min, although there is room for it',
      'a namespace could not be deleted',
    ])
  })

  test('the overview counts the history of runs once, however often it is read', async () => {
    const { parts, cluster } = await open()
    let asked = 0
    const pages = cluster.pages.bind(cluster)
    cluster.pages = (query, options) => {
      if (query.labels?.includes(`!${LIVE_LABEL}`)) asked++
      return pages(query, options)
    }
    await Promise.all(Array.from({ length: 5 }, () => parts.overviews.read()))
    await parts.overviews.read()
    expect(asked).toBe(1)
  })
})

test('BuildSlots reports how many builds run and wait', async () => {
  const slots = new BuildSlots(['tcp://a', 'tcp://b'], 1)
  const wanted = { namespace: 'n', key: 'k', signal: new AbortController().signal, onQueue: () => {} }
  const first = await slots.take({ ...wanted, user: 'ann' })
  await slots.take({ ...wanted, user: 'bob' })
  void slots.take({ ...wanted, user: 'cem' })
  expect(slots.load()).toEqual({
    running: new Map([
      ['tcp://a', 1],
      ['tcp://b', 1],
    ]),
    waiting: 1,
    atOnce: 1,
  })
  first.free()
  expect(slots.load().waiting).toBe(0)
})

test('toShownSettings fills in defaults, and shows the login rules', () => {
  const CI = {
    kind: 'gitea',
    issuer: 'https://git.example.com',
    rules: [{ repository: '7', prefix: 'shop-' }],
  } as const
  const oidc = { kind: 'oidc', id: 'oidc', name: 'Git', issuer: 'https://git.example.com', clientId: 'the-client' }
  const settings = readSettings(
    JSON.stringify({
      domain: 'dev.example.com',
      url: 'https://platform.dev.example.com',
      kubernetes: { server: 'https://k.example.com', ca: 'PEM' },
      providers: [{ ...oidc, allow: [{ claim: 'groups', value: 'dev' }] }],
      ci: [CI],
      sleepHours: { preview: 0.5 },
    }),
  )
  expect(toShownSettings(settings)).toMatchObject({
    kubernetes: 'https://k.example.com',
    namespacesPerUser: 5,
    previewsPerUser: 50,
    sleepHours: { namespace: 3, preview: 0.5 },
    deleteHours: { namespace: 336, preview: 168 },
    providers: [{ id: 'oidc', kind: 'oidc', address: 'https://git.example.com', allow: ['groups=dev'] }],
    ci: [CI],
    registryTokens: false,
  })
})
