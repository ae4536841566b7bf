import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { presentedCertificate } from '../../../../../adapters/http/presented-certificate.ts'
import type { KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import { buildersText, serversText } from '../../../../../cli/run/platform/platform-status.ts'
import { platformStatus, registryDiskText } from '../../../../../platform/install/checks/status.ts'
import { installedImages } from '../../../../../platform/install/installed-images.ts'
import { type Installation, platformObjects } from '../../../../../platform/install/manifests/server.ts'
import { fromChecks } from '../../../../../platform/records/dependency-checks.ts'
import { fromNamespace } from '../../../../../platform/records/namespace.ts'
import { fromRun } from '../../../../../platform/records/run.ts'
import { fromUser } from '../../../../../platform/records/user.ts'
import { freePort } from '../../../../support/develop/free-port.ts'
import { CERTIFICATE, PRIVATE_KEY } from '../../../../support/gitops/certificates.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

// A real cluster cannot be made to show these states of a platform at once.

const ID = 'a'.repeat(16)
const server = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, socket =>
  socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'),
)
let url: string

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const NOW = Date.parse('2026-11-23T15:00:00Z')
const time = '2026-11-23T14:00:00Z'

const act = (
  cluster: MemoryCluster,
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
  status: unknown,
) => cluster.act({ apiVersion, kind, name, namespace }, one => ({ ...one, status }))

const SERVICES: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: ['10.43.0.0/16'] },
}
const TRAEFIK: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: 'traefik', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
}

/** A cluster with a platform; `pods` are those of its server. */
async function clusterWith({
  ready = 1,
  renewed = '2026-11-23T14:59:55.000000Z',
  pods = [] as readonly KubeObject[],
  bundled = 0,
  untrusted = 0,
  kept = { builders: { default: ['tcp://buildkit:1234'], atOnce: 4 } } as object,
  more = {} as Partial<Installation>,
  around = [SERVICES, TRAEFIK] as readonly KubeObject[],
} = {}) {
  const cluster = new MemoryCluster({
    namespaces: ['default', 'devctl-platform', 'devctl-users', 'devctl-runs', 'devctl-build'],
  })
  const namespaced = { namespaced: true, hasStatus: true }
  cluster.register({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'ingresses', ...namespaced })
  cluster.register({ apiVersion: 'batch/v1', kind: 'Job', name: 'jobs', ...namespaced })
  cluster.register({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    name: 'leases',
    ...namespaced,
    hasStatus: false,
  })
  const clusterWide = { namespaced: false, hasStatus: false }
  cluster.register({ apiVersion: 'v1', kind: 'Node', name: 'nodes', ...clusterWide })
  cluster.register({ apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', name: 'ingressclasses', ...clusterWide })
  cluster.register({ apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', name: 'servicecidrs', ...clusterWide })
  for (const object of around) await cluster.create(object)
  const objects = platformObjects({
    version: '0.1.0',
    domain: 'dev.example.com',
    image: 'registry.example.com/devctl/platform:0.1.0',
    runnerImage: 'registry.example.com/devctl/runner:0.1.0',
    replicas: 1,
    clusterNetworks: ['10.42.0.0/16', '10.43.0.0/16'],
    ...more,
    kubernetes: { server: 'https://k.example.com' },
    providers: [{ kind: 'github', id: 'github', name: 'GitHub', url: 'https://github.com', clientId: 'x', allow: [] }],
    kept: { registry: 'registry.example.com/people', ...kept },
    ...(bundled + untrusted > 0 && {
      ingressPeers: [{ namespace: 'kube-system', labels: { app: 'traefik' }, ports: [8443] }],
      bundledBuilders: { image: 'buildkit:1', count: bundled, untrusted, size: '9Gi', networks: [] },
    }),
  })
  for (const object of objects) {
    const { kind, data } = object
    if (kind === 'ConfigMap' && object.metadata.name === 'settings') {
      const settings = JSON.parse((data as { readonly 'settings.json': string })['settings.json'])
      await cluster.create({ ...object, data: { 'settings.json': JSON.stringify({ ...settings, url }) } })
    } else if (kind === 'Ingress' || kind === 'NetworkPolicy') {
      await cluster.create(object)
    } else if (kind === 'StatefulSet') {
      await cluster.create(object)
      const count = object.metadata.name === 'builder' ? bundled : untrusted
      act(cluster, object, {
        observedGeneration: 1,
        replicas: count,
        updatedReplicas: count,
        readyReplicas: count,
      })
    } else if (kind === 'Deployment') {
      await cluster.create(object)
      const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: ready, availableReplicas: ready }
      act(cluster, object, { observedGeneration: 1, ...counts })
    }
  }
  const spec = { holderIdentity: 'platform-7d49-x2k4f-0123456789', renewTime: renewed }
  const lease = { name: 'devctl-leader', namespace: 'devctl-platform' }
  await cluster.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: lease, spec })
  for (const [login, role] of [
    ['ann', 'admin'],
    ['bob', 'developer'],
  ] as const)
    await cluster.create(
      fromUser({ id: (login[0] ?? '').repeat(16), issuer: 'x', subject: login, login, role, lastLogin: time }),
    )
  for (const [name, status] of [
    ['shop', 'Active'],
    ['blog', 'Sleeping'],
    ['pay', 'Sleeping'],
  ] as const)
    await cluster.create(
      fromNamespace({ name, kind: 'namespace', status, owner: ID, created: time, lastActive: time, longerNames: [] }),
    )
  await cluster.create(
    fromRun(
      {
        id: '01kaaaaaaaaaaaaaaaaaaaaaaa',
        namespace: 'shop',
        namespaceUid: 'n',
        environment: 'e',
        action: 'deploy',
        repository: 'https://git.example.com/team/shop',
        user: ID,
      },
      {},
    ),
  )
  for (const { status, ...pod } of pods) {
    await cluster.create(pod)
    act(cluster, pod, status)
  }
  return cluster
}

const look = async (cluster: MemoryCluster, env = {}) =>
  platformStatus({ cluster, signal: AbortSignal.timeout(20_000), now: () => NOW, on: () => {}, env })

describe('the status of a platform', () => {
  test('the status shows how full the disk of the bundled registry is', async () => {
    const GIB = 2 ** 30
    const measured = (free: number) =>
      JSON.stringify({ size: 50 * GIB, free: free * GIB, at: NOW / 1000 - 60, places: {} })
    const withDisk = async (line: string) => {
      const logs = async function* (pod: { readonly name: string }, { container }: { readonly container: string }) {
        if (pod.name === 'registry-0' && container === 'disk') yield line
      }
      return look(Object.assign(await clusterWith(), { logs }))
    }
    const room = await withDisk(measured(38))
    expect([room.registryDisk, registryDiskText(room)]).toEqual([
      { size: 50 * GIB, free: 38 * GIB },
      '; disk 12.0 of 50.0 GiB (24 %)',
    ])
    const full = await withDisk(measured(2))
    const isSaid = (one: typeof full) =>
      one.problems.some(({ message }) => message.includes('the registry is nearly full'))
    expect([isSaid(room), isSaid(full)]).toEqual([false, true])
    for (const line of ['', 'df: no such file', measured(2).replace(/"at":\d+/, '"at":1')])
      expect((await withDisk(line)).registryDisk, line).toBeUndefined()
  })

  test('the status shows users, namespaces, runs and builders from the records', async () => {
    const found = await look(await clusterWith())
    expect(found).toMatchObject({
      url,
      version: '0.1.0',
      leader: 'platform-7d49-x2k4f',
      workloads: [{ name: 'deployment/platform', namespace: 'devctl-platform', ready: 1, wanted: 1 }],
      login: ['GitHub (github)'],
      users: { all: 2, admins: 1, suspended: 0 },
      namespaces: { all: 3, awake: 1, asleep: 2 },
      runs: { queued: 1, running: 0 },
      builders: ['tcp://buildkit:1234'],
      registry: 'registry.example.com/people',
    })
    // The certificate is self-signed, and the server that answers is not a platform.
    expect(found.isReachable).toBe(false)
    expect(found.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining(url),
      expect.stringMatching(/does not trust the certificate of 127.0.0.1:\d+: DEPTH_ZERO_SELF_SIGNED_CERT/),
      'the certificate is not for the hosts of environments',
    ])
  })

  test('the status counts no namespace that is being deleted as awake, and reports failed deletions', async () => {
    const cluster = await clusterWith()
    for (const [name, status] of [
      ['next', 'Waking'],
      ['old', 'Deleting'],
      ['stuck', 'DeleteFailed'],
    ] as const)
      await cluster.create(
        fromNamespace({ name, kind: 'namespace', status, owner: ID, created: time, lastActive: time, longerNames: [] }),
      )
    const found = await look(cluster)
    expect(found.namespaces).toEqual({ all: 6, awake: 2, asleep: 2, failed: 1 })
    expect(found.problems).toContainEqual({
      message: 'a namespace could not be deleted',
      notes: [],
      hint: expect.stringContaining('`devctl namespace delete NAME --force`'),
    })
  })

  test('the status names bundled builders, and reports those that the settings do not name', async () => {
    const row = ({ builders, workloads }: Awaited<ReturnType<typeof look>>) => buildersText(builders, workloads)
    const own = await look(await clusterWith({ bundled: 2, kept: {} }))
    expect(own.builders).toEqual([0, 1].map(at => `tcp://builder-${at}.builder.devctl-build.svc:1234`))
    expect(row(own)).toBe('2 of 2 ready in devctl-build')
    expect(own.problems.filter(({ message }) => message.includes('builder'))).toEqual([])
    expect(row(await look(await clusterWith()))).toBe('tcp://buildkit:1234')
    const both = await look(await clusterWith({ bundled: 2, untrusted: 1, kept: {} }))
    expect(row(both)).toBe('2 of 2 ready in devctl-build, 1 of 1 ready in devctl-build for forks')
    expect(both.problems.filter(({ message }) => message.includes('builder'))).toEqual([])
    expect(row(await look(await clusterWith({ kept: {} })))).toBe('-')

    const cluster = await clusterWith({ bundled: 1, kept: {} })
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: 'devctl-platform' }
    const live = await cluster.get(ref)
    const { builders: _, ...others } = JSON.parse(
      (live!['data'] as { readonly 'settings.json': string })['settings.json'],
    )
    await cluster.patch(ref, { data: { 'settings.json': JSON.stringify(others) } }, { manager: 'test' })
    const unused = await look(cluster)
    expect(row(unused)).toBe('1 of 1 ready in devctl-build, not used')
    expect(unused.problems.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('`statefulset/builder` is there, but the settings name none of its builders'),
    )
  })

  test('a leader that has stopped renewing its lease is reported as missing', async () => {
    const found = await look(await clusterWith({ renewed: '2026-11-23T14:59:30.000000Z' }))
    expect(found.leader).toBeUndefined()
    expect(found.problems[0]?.message).toContain('no replica leads')
  })

  test('a server that was scaled to 0 is reported, with the command that starts it again', async () => {
    const cluster = await clusterWith({ ready: 0 })
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'platform', namespace: 'devctl-platform' }
    cluster.act(ref, one => ({ ...one, spec: { ...(one['spec'] as object), replicas: 0 } }))
    expect((await look(cluster)).problems).toContainEqual({
      message: 'deployment/platform has no replicas: somebody has scaled it to 0',
      notes: [],
      hint: '`kubectl --namespace devctl-platform scale deployment/platform --replicas 1` starts it again',
    })
  })

  test('a Pod that cannot start is explained as in a deploy', async () => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'platform-7d49', uid: 'r', controller: true }
    const waiting = {
      reason: 'ImagePullBackOff',
      message: 'Back-off pulling image "registry.example.com/devctl/platform:0.1.0"',
    }
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'platform-7d49-x2k4f', namespace: 'devctl-platform', ownerReferences: [owner] },
      spec: { containers: [{ name: 'platform', image: 'registry.example.com/devctl/platform:0.1.0' }] },
      status: {
        phase: 'Pending',
        containerStatuses: [{ name: 'platform', ready: false, restartCount: 0, state: { waiting } }],
      },
    }
    const found = await look(await clusterWith({ ready: 0, pods: [pod] }))
    const [problem] = found.problems
    expect(problem?.message).toBe('the image of `platform` cannot be pulled')
    expect(problem?.notes.join('\n')).toContain('registry.example.com/devctl/platform:0.1.0')
    expect(problem?.hint).toContain('--image-registry')
    expect(found.workloads[0]).toMatchObject({ ready: 0, wanted: 1 })
  })

  test('during an upgrade, the status reports only the Pods of the newer server', async () => {
    const cluster = await clusterWith({ ready: 0 })
    const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'platform', namespace: 'devctl-platform' }
    const REVISION = 'deployment.kubernetes.io/revision'
    const uid = (await cluster.get(ref))!.metadata.uid!
    await cluster.act(ref, one => ({
      ...one,
      metadata: { ...one.metadata, annotations: { ...one.metadata.annotations, [REVISION]: '2' } },
    }))
    const setOf = (hash: string, revision: string): KubeObject => ({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `platform-${hash}`,
        namespace: 'devctl-platform',
        labels: { 'pod-template-hash': hash },
        annotations: { [REVISION]: revision },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'platform', uid, controller: true }],
      },
    })
    const podOf = (hash: string, reason: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `platform-${hash}-x2k4f`,
        namespace: 'devctl-platform',
        labels: { 'pod-template-hash': hash },
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `platform-${hash}`, uid: hash, controller: true },
        ],
      },
      spec: { containers: [{ name: 'platform', image: `registry.example.com/devctl/platform:${hash}` }] },
      status: {
        phase: 'Pending',
        containerStatuses: [
          { name: 'platform', ready: false, restartCount: 0, state: { waiting: { reason, message: `of ${hash}` } } },
        ],
      },
    })
    const add = async ({ status, ...object }: KubeObject) => {
      await cluster.create(object as KubeObject)
      act(cluster, object as KubeObject, status)
    }
    await cluster.create(setOf('old', '1'))
    await cluster.create(setOf('new', '2'))
    await add(podOf('old', 'ImagePullBackOff'))
    expect(JSON.stringify((await look(cluster)).problems)).not.toContain('of old')
    await add(podOf('new', 'ImagePullBackOff'))
    const said = JSON.stringify((await look(cluster)).problems)
    expect([said.includes('of new'), said.includes('of old')]).toEqual([true, false])
  })

  describe('the dependencies of a platform', () => {
    const messages = (found: Awaited<ReturnType<typeof look>>) => found.problems.map(({ message }) => message)

    test('a forge that the server cannot use is reported, with the reason and what to do', async () => {
      const cluster = await clusterWith({
        kept: { forges: [{ kind: 'gitea', url: 'https://git.example.com' }] },
      })
      const hosts = (found: Awaited<ReturnType<typeof look>>) => serversText(found.dependencies)
      expect(hosts(await look(cluster))).toBe('github.com (not checked yet), git.example.com (not checked yet)')
      const github = { kind: 'github', name: 'GitHub', address: 'https://github.com' } as const
      const git = {
        kind: 'forge',
        name: 'git.example.com',
        address: 'https://git.example.com',
        forge: 'gitea',
      } as const
      const checks = {
        checked: '2026-11-23T14:59:00Z',
        all: [github, { ...git, failure: { kind: 'untrusted', detail: 'self-signed certificate' } as const }],
      }
      await cluster.create(fromChecks(checks))
      const found = await look(cluster)
      expect(hosts(found)).toBe('github.com, git.example.com (failed)')
      expect(found.problems).toContainEqual({
        message:
          'webhooks of `git.example.com` do not work: the server does not trust the certificate of `git.example.com`: self-signed certificate',
        notes: ['checked by the server at 2026-11-23T14:59:00Z'],
        hint: 'to trust the authority that issued it, run `devctl platform install --ca FILE`; the file has the certificates (PEM) of all private authorities',
      })
    })

    test('an ingress class that does not exist is reported, with those that exist', async () => {
      const found = await look(await clusterWith({ more: { ingressClass: 'nginx' } }))
      expect(found.problems).toContainEqual({
        message: 'the ingress class `nginx` does not exist, so no ingress controller serves `127.0.0.1`',
        notes: [],
        hint: 'name a class that exists: `devctl platform install --ingress-class traefik`',
      })
      expect(found.problems.find(({ message }) => message.includes(url))?.notes).toEqual([
        'no ingress controller has written its address into `ingress/platform`',
      ])
    })

    test('nodes outside of the listed networks are reported, with the option that excludes them', async () => {
      const node = (name: string, address: string): KubeObject => ({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
        spec: { podCIDR: '10.42.0.0/24' },
        status: { addresses: [{ type: 'InternalIP', address }] },
      })
      const around = [SERVICES, TRAEFIK, node('a', '10.42.0.1'), node('b', '93.184.216.4')]
      const open = async (more: Partial<Installation>) =>
        (await look(await clusterWith({ around, more }))).problems.find(one => one.message.includes('can reach parts'))
      expect(await open({})).toEqual({
        message: 'namespaces, runs and builds can reach parts of the cluster that its listed networks do not include',
        notes: ['nodes: 93.184.216.4 (`b`)'],
        hint: '`devctl platform install` finds and excludes them',
      })
      expect((await open({ areNetworksNamed: true }))?.hint).toBe(
        '`devctl platform install --cluster-networks 10.42.0.0/16,10.43.0.0/16,93.184.216.4/32` excludes them',
      )
      expect(await open({ areNetworksNamed: true, privateNetworks: ['192.168.0.0/16'] })).toBeDefined()
      expect(await open({ clusterNetworks: ['10.42.0.0/15', '93.184.216.0/24'] })).toBeUndefined()
    })

    test('a missing network policy of the builders is reported', async () => {
      const lost = await clusterWith({ bundled: 1, kept: {} })
      await lost.delete({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        name: 'builder',
        namespace: 'devctl-build',
      })
      expect(messages(await look(lost))).toContain(
        '`networkpolicy/builder` of `devctl-build` no longer exists: builds can reach the whole cluster',
      )
    })
  })

  test('a platform without its server has a problem, and a cluster without a platform is an error', async () => {
    const cluster = await clusterWith()
    await cluster.delete({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'platform', namespace: 'devctl-platform' })
    expect((await look(cluster)).problems[0]?.message).toBe('the server of the platform is not installed')
    await expect(look(new MemoryCluster({ namespaces: ['devctl-platform'] }))).rejects.toThrow(
      'the cluster has no platform',
    )
  })
})

test('presentedCertificate reads a self-signed certificate, and fails without a server', async () => {
  const found = await presentedCertificate(new URL(url), AbortSignal.timeout(10_000))
  expect(found).toMatchObject({
    names: ['registry.example.com'],
    issuer: 'sealed-secret of a test',
    distrust: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  })
  expect(found.fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)
  expect(found.until.getUTCFullYear()).toBe(2126)
  expect(found.covers('127.0.0.1')).toBe(false)
  const nobody = new URL(`https://127.0.0.1:${await freePort()}`)
  await expect(presentedCertificate(nobody, AbortSignal.timeout(10_000))).rejects.toThrow('ECONNREFUSED')
})

test('installedImages lists the images of a platform', async () => {
  const cluster = await clusterWith()
  const world = { cluster, signal: AbortSignal.timeout(5000), now: Date.now, on: () => {} }
  expect(await installedImages(world)).toEqual([
    'registry.example.com/devctl/platform:0.1.0',
    'registry.example.com/devctl/runner:0.1.0',
  ])
})
