import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster as KubernetesCluster } from '../../../adapters/kubernetes/cluster.ts'
import { connect as connectCluster } from '../../../adapters/kubernetes/kube-cluster.ts'
import { apiServerAddresses, clusterNetworks } from '../../../platform/install/checks/cluster-networks.ts'
import { platformObjects } from '../../../platform/install/manifests/server.ts'
import { MANAGED_LABEL, OWN_POLICIES } from '../../../platform/records/names.ts'
import type { Networks } from '../../../platform/records/network-rules.ts'
import { namespaceDefaults } from '../../../platform/server/namespaces/namespace-defaults.ts'
import { root } from '../../support/cases.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { enforcesPolicies, reachedFrom, startClient } from '../../support/cluster/reachability.ts'
import { run } from '../../support/run.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'

// These tests check which addresses Pods in namespaces of the platform and of runs reach with enforced policies: no
// Pods of others and no nodes. Only runs reach the API server, and one port of the platform.

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined
const isEnforced = cluster !== undefined && (await enforcesPolicies(cluster))

const [mine, others] = [`networks-a-${process.pid}`, `networks-b-${process.pid}`]
const PORT = 6379

const NODE = { apiVersion: 'v1', kind: 'Node' }
const API_SERVER = { apiVersion: 'v1', kind: 'Service', name: 'kubernetes', namespace: 'default' }

/** Returns addresses of the node and of the Service of the API server. */
async function clusterAddresses(admin: KubernetesCluster): Promise<{ readonly node: string; readonly api: string }> {
  const [node] = await admin.list(NODE)
  const { addresses } = node!['status'] as { addresses: { type: string; address: string }[] }
  const api = await admin.get(API_SERVER)
  return {
    node: addresses.find(({ type }) => type === 'InternalIP')!.address,
    api: (api!['spec'] as { clusterIP: string }).clusterIP,
  }
}

async function podAddress(admin: KubernetesCluster, namespace: string, name: string): Promise<string> {
  const live = await admin.get({ apiVersion: 'v1', kind: 'Pod', name, namespace })
  return (live!['status'] as { podIP: string }).podIP
}

/** Returns addresses of the node, which is this machine, that its Node object need not list. */
const nodeAddresses = (): readonly string[] =>
  Object.values(networkInterfaces())
    .flatMap(all => all ?? [])
    .flatMap(({ address, family, internal }) => (family === 'IPv4' && !internal ? [address] : []))

async function makeManaged(admin: KubernetesCluster, name: string, networks: Networks): Promise<void> {
  const metadata = { name, labels: { [MANAGED_LABEL]: 'true' } }
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata })
  for (const object of namespaceDefaults(name, networks)) await admin.apply(object, { manager: 'test', force: true })
}

type Address = readonly [host: string, port: number]

/** Returns the addresses as `reachedFrom` does. */
const named = (addresses: readonly Address[]): readonly string[] => addresses.map(([host, port]) => `${host}:${port}`)

/** Waits until a Pod reaches some of the addresses, which are all by default, and no others. */
async function untilReached(
  namespace: string,
  pod: string,
  addresses: readonly Address[],
  wanted: readonly string[] = named(addresses),
): Promise<void> {
  const reached = () => reachedFrom(cluster!, namespace, pod, addresses)
  await eventually(
    `${pod} reaches ${wanted.join(', ')}`,
    async () => ((await reached()).join(' ') === wanted.join(' ') ? true : undefined),
    { explain: async () => `it reaches ${(await reached()).join(', ')}` },
  )
}

afterAll(() => cluster?.close())

describe.skipIf(!isEnforced)('the network of a namespace', () => {
  let networks: readonly string[]
  const unlisted = `networks-c-${process.pid}`
  const address: Record<string, string> = {}
  /** Accepts connections at each address of the node. */
  const listener = createServer(socket => socket.end())

  beforeAll(async () => {
    const admin = await connectCluster({ env: process.env })
    networks = (await clusterNetworks(admin, AbortSignal.timeout(60_000))).networks
    for (const name of [mine, others]) await makeManaged(admin, name, { clusterNetworks: networks })
    const started = [startClient(cluster!, mine, 'client'), startClient(cluster!, mine, 'friend', { app: 'one' })]
    await Promise.all([...started, startClient(cluster!, others, 'other', { app: 'one' })])
    for (const [namespace, pod] of [
      [mine, 'friend'],
      [others, 'other'],
    ] as const) {
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'one', namespace },
        spec: { selector: { app: 'one' }, ports: [{ port: PORT }] },
      }
      const made = await admin.create(service)
      address[`${pod} service`] = (made['spec'] as { clusterIP: string }).clusterIP
      address[pod] = await podAddress(admin, namespace, pod)
    }
    Object.assign(address, await clusterAddresses(admin))
  })
  afterAll(() => {
    listener.close()
    return Promise.all([mine, others, unlisted].map(one => cluster!.deleteNamespace(one)))
  })

  test('a Pod reaches Pods and Services of its namespace, also by name', async () => {
    const hosts = [address['friend']!, address['friend service']!, 'one']
    await untilReached(
      mine,
      'client',
      hosts.map(host => [host, PORT]),
    )
  })

  test('a Pod reaches no Pods and Services of others, no nodes and not the API server', async () => {
    expect(networks.length).toBeGreaterThan(2)
    const away: readonly Address[] = [
      [address['other']!, PORT],
      [address['other service']!, PORT],
      [`one.${others}.svc.cluster.local`, PORT],
      [address['node']!, 6443],
      [address['node']!, 10_250],
      [address['node']!, 22],
      [address['api']!, 443],
      ['kubernetes.default.svc.cluster.local', 443],
      ['169.254.169.254', 80],
    ]
    expect(await reachedFrom(cluster!, mine, 'client', away)).toEqual([])
  })

  test('a Pod reaches no unlisted address of its node, except a private network that was opened', async () => {
    listener.listen(0, '0.0.0.0')
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    const addresses = nodeAddresses().map(address => [address, port] as const)
    expect(addresses.length).toBeGreaterThan(1)
    const admin = await connectCluster({ env: process.env })
    await makeManaged(admin, unlisted, {})
    await startClient(cluster!, unlisted, 'client')
    expect(await reachedFrom(cluster!, unlisted, 'client', addresses)).toEqual([])
    const [opened, ...closed] = addresses
    for (const object of namespaceDefaults(unlisted, { privateNetworks: [`${opened![0]}/32`] }))
      if (object.kind === 'NetworkPolicy') await admin.apply(object, { manager: 'test', force: true })
    await untilReached(unlisted, 'client', [opened!, ...closed], named([opened!]))
  })

  test('a Pod reaches these addresses once the policies are deleted', async () => {
    const admin = await connectCluster({ env: process.env })
    for (const namespace of [mine, others])
      for (const name of OWN_POLICIES)
        await admin.delete({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name, namespace })
    await untilReached(mine, 'client', [
      [address['other']!, PORT],
      [address['node']!, 6443],
      [address['api']!, 443],
    ])
  })
})

/** Namespaces of the test for the policy of runs: a real platform may exist next to it. */
const [runs, server] = [`networks-runs-${process.pid}`, `networks-server-${process.pid}`]

describe.skipIf(!isEnforced)('the network of runs', () => {
  let admin: KubernetesCluster

  beforeAll(async () => {
    admin = await connectCluster({ env: process.env })
    await Promise.all([runs, server].map(one => cluster!.createNamespace(one)))
    const signal = AbortSignal.timeout(60_000)
    const policies = platformObjects({
      ...{ version: '', domain: 'x', image: '', runnerImage: '', replicas: 1, kubernetes: { server: '' } },
      clusterNetworks: (await clusterNetworks(admin, signal)).networks,
      apiServer: await apiServerAddresses(admin, signal),
    }).filter(({ metadata }) => metadata.name === 'devctl-runs' && metadata.namespace === 'devctl-runs')
    expect(policies.map(({ kind }) => kind)).toEqual(['NetworkPolicy'])
    const text = JSON.stringify(policies[0]).replaceAll('devctl-runs', runs).replaceAll('devctl-platform', server)
    await admin.create(JSON.parse(text))
    const names = { 'app.kubernetes.io/name': 'platform' }
    await Promise.all([
      startClient(cluster!, runs, 'run'),
      startClient(cluster!, runs, 'other'),
      startClient(cluster!, server, 'platform', names, [8081, 8080, PORT]),
    ])
  })
  afterAll(() => Promise.all([runs, server].map(one => cluster!.deleteNamespace(one))))

  test('a run reaches the API server, also by name, and its own port of the platform', async () => {
    const { api } = await clusterAddresses(admin)
    await untilReached(runs, 'run', [
      [api, 443],
      ['kubernetes.default.svc', 443],
      [await podAddress(admin, server, 'platform'), 8081],
    ])
  })

  test('a run reaches no other runs or Pods, no ports of the node and no cloud metadata', async () => {
    const { node } = await clusterAddresses(admin)
    const other = await podAddress(admin, runs, 'other')
    const platform = await podAddress(admin, server, 'platform')
    const away: readonly Address[] = [
      [other, PORT],
      [platform, PORT],
      [platform, 8080],
      [node, 10_250],
      [node, 22],
      ['169.254.169.254', 80],
    ]
    expect(await reachedFrom(cluster!, runs, 'run', away)).toEqual([])
    expect(await reachedFrom(cluster!, server, 'platform', [[other, PORT]]), 'nobody reaches a run').toEqual([])
    // Each of them exists: without the policy it can be reached.
    await admin.delete({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name: runs, namespace: runs })
    await untilReached(runs, 'run', away.slice(0, 4))
    await untilReached(server, 'platform', [[other, PORT]])
  })
})

if (TAKES_ALL)
  describe.skipIf(!isEnforced)('the networks of a Compose file, in a namespace of the platform', () => {
    const namespace = `networks-file-${process.pid}`
    const cwd = mkdtempSync(join(tmpdir(), 'devctl-networks-'))
    afterAll(async () => {
      rmSync(cwd, { recursive: true })
      await cluster!.deleteNamespace(namespace)
    })

    test('Compose networks separate services, and an internal network has no way out', async () => {
      const admin = await connectCluster({ env: process.env })
      const { node } = await clusterAddresses(admin)
      // The ingress controller of the node represents the outside world.
      const networks = (await clusterNetworks(admin, AbortSignal.timeout(60_000))).networks.filter(
        one => one !== `${node}/32`,
      )
      await makeManaged(admin, namespace, { clusterNetworks: networks, privateNetworks: [`${node}/32`] })
      // The hosts are left out: a platform in this cluster decides which ones are allowed.
      const file = readFileSync(join(root, 'examples/networks/compose.yaml'), 'utf8')
      writeFileSync(join(cwd, 'compose.yaml'), file.replace('ports: ["8080:80"]', 'expose: ["80"]'))
      const env = { KUBECONFIG: process.env.KUBECONFIG ?? '', DEVCTL_NAMESPACE: namespace }
      const { status, stderr } = await run(['deploy', '--wait'], { cwd, env })
      expect(status, stderr).toBe(0)
      await startClient(cluster!, namespace, 'apart')
      const pods = await admin.list({ apiVersion: 'v1', kind: 'Pod', namespace })
      const podOf = (service: string) =>
        pods.find(({ metadata }) => metadata.labels?.['dev.platform/service'] === service)?.metadata.name ?? service
      const from = (service: string, addresses: readonly Address[], wanted: readonly Address[]) =>
        untilReached(namespace, podOf(service), addresses, named(wanted))
      const [web, api, store, away]: readonly Address[] = [
        ['web', 80],
        ['api', 8000],
        ['store', 6379],
        [node, 80],
      ]
      await from('web', [api!, store!, away!], [api!, away!])
      await from('api', [web!, store!], [web!, store!])
      await from('backup', [web!, store!, away!], [store!])
      // Another Pod in the namespace has no network in common with them.
      await from('apart', [store!, away!], [away!])
    })
  })
