import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster as KubernetesCluster } from '../../../adapters/kubernetes/cluster.ts'
import { connect as connectCluster } from '../../../adapters/kubernetes/kube-cluster.ts'
import { apiServerAddresses, clusterNetworks } from '../../../operations/platform/cluster-networks.ts'
import { platformObjects } from '../../../platform/install/server.ts'
import { MANAGED_LABEL, OWN_POLICIES } from '../../../platform/records/names.ts'
import { surroundings } from '../../../platform/server/namespace-objects.ts'
import { root } from '../../support/cases.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { connect, enforcesPolicies, startClient, tryInPod } from '../../support/cluster/reachability.ts'
import { run } from '../../support/run.ts'

// What Pods in namespaces of the platform and of runs reach, with the policies enforced: nothing of others, and nothing of the cluster.

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined
const isEnforced = cluster !== undefined && (await enforcesPolicies(cluster))
if (cluster && !isEnforced && process.env.EXPECT_POLICIES) throw new Error('NetworkPolicies are not enforced')

const [mine, others] = [`networks-a-${process.pid}`, `networks-b-${process.pid}`]
const PORT = 6379

const NODE = { apiVersion: 'v1', kind: 'Node' }
const API_SERVER = { apiVersion: 'v1', kind: 'Service', name: 'kubernetes', namespace: 'default' }

/** Addresses of the node and of the Service of the API server. */
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

async function makeManaged(admin: KubernetesCluster, name: string, networks: readonly string[]): Promise<void> {
  const metadata = { name, labels: { [MANAGED_LABEL]: 'true' } }
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata })
  for (const object of surroundings(name, networks)) await admin.apply(object, { manager: 'test', force: true })
}

afterAll(() => cluster?.close())

describe.skipIf(!isEnforced)('the network of a namespace', () => {
  let networks: readonly string[]
  const address: Record<string, string> = {}
  const reaches = (host: string, port: number) => tryInPod(cluster!, mine, 'client', connect(host, port))

  beforeAll(async () => {
    const admin = await connectCluster({ env: process.env })
    networks = await clusterNetworks(admin, AbortSignal.timeout(60_000))
    for (const name of [mine, others]) await makeManaged(admin, name, networks)
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
  afterAll(() => Promise.all([mine, others].map(one => cluster!.deleteNamespace(one))))

  test('its own Pods and Services can be reached, by name too', async () => {
    for (const host of [address['friend']!, address['friend service']!, 'one'])
      await eventually(`${host} can be reached`, async () => ((await reaches(host, PORT)) ? true : undefined))
  })

  test('Pods and Services of others, nodes and the API server cannot', async () => {
    expect(networks.length).toBeGreaterThan(2)
    for (const [host, port] of [
      [address['other']!, PORT],
      [address['other service']!, PORT],
      [`one.${others}.svc.cluster.local`, PORT],
      [address['node']!, 6443],
      [address['node']!, 10_250],
      [address['node']!, 22],
      [address['api']!, 443],
      ['kubernetes.default.svc.cluster.local', 443],
      ['169.254.169.254', 80],
    ] as const)
      expect(await reaches(host, port), `${host}:${port}`).toBe(false)
  })

  test('without its policies it could: the test sees a way where there is one', async () => {
    const admin = await connectCluster({ env: process.env })
    for (const namespace of [mine, others])
      for (const name of OWN_POLICIES)
        await admin.delete({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name, namespace })
    for (const [host, port] of [
      [address['other']!, PORT],
      [address['node']!, 6443],
      [address['api']!, 443],
    ] as const)
      await eventually(`${host}:${port} can be reached`, async () => ((await reaches(host, port)) ? true : undefined))
  })
})

/** The policy of runs, in namespaces of the test: a real platform may be beside it. */
const [runs, server] = [`networks-runs-${process.pid}`, `networks-server-${process.pid}`]

describe.skipIf(!isEnforced)('the network of runs', () => {
  let admin: KubernetesCluster
  const reaches = (host: string, port: number) => tryInPod(cluster!, runs, 'run', connect(host, port))

  beforeAll(async () => {
    admin = await connectCluster({ env: process.env })
    await Promise.all([runs, server].map(one => cluster!.createNamespace(one)))
    const signal = AbortSignal.timeout(60_000)
    const policies = platformObjects({
      ...{ version: '', domain: 'x', image: '', runnerImage: '', replicas: 1, kubernetes: { server: '' } },
      clusterNetworks: await clusterNetworks(admin, signal),
      apiServer: await apiServerAddresses(admin, signal),
    }).filter(({ metadata }) => metadata.name === 'devctl-runs' && metadata.namespace === 'devctl-runs')
    expect(policies.map(({ kind }) => kind)).toEqual(['NetworkPolicy'])
    const text = JSON.stringify(policies[0]).replaceAll('devctl-runs', runs).replaceAll('devctl-platform', server)
    await admin.create(JSON.parse(text))
    const names = { 'app.kubernetes.io/name': 'platform' }
    await Promise.all([
      startClient(cluster!, runs, 'run'),
      startClient(cluster!, runs, 'other'),
      startClient(cluster!, server, 'platform', names, 8081),
      startClient(cluster!, server, 'main', names, 8080),
      startClient(cluster!, server, 'client', names),
    ])
  })
  afterAll(() => Promise.all([runs, server].map(one => cluster!.deleteNamespace(one))))

  test('they reach the API server, by name too, and the port of the platform that is theirs', async () => {
    const { api } = await clusterAddresses(admin)
    for (const [host, port] of [
      [api, 443],
      ['kubernetes.default.svc', 443],
      [await podAddress(admin, server, 'platform'), 8081],
    ] as const)
      await eventually(`${host}:${port} can be reached`, async () => ((await reaches(host, port)) ? true : undefined))
  })

  test('they reach neither each other nor other Pods, ports of the node, or the metadata of a cloud', async () => {
    const { node } = await clusterAddresses(admin)
    const other = await podAddress(admin, runs, 'other')
    const away = [
      [other, PORT],
      [await podAddress(admin, server, 'client'), PORT],
      [await podAddress(admin, server, 'main'), 8080],
      [node, 10_250],
      [node, 22],
      ['169.254.169.254', 80],
    ] as const
    for (const [host, port] of away) expect(await reaches(host, port), `${host}:${port}`).toBe(false)
    const fromOutside = () => tryInPod(cluster!, server, 'client', connect(other, PORT))
    expect(await fromOutside(), 'nobody reaches a run').toBe(false)
    // Each of them is there: without the policy it can be reached.
    await admin.delete({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name: runs, namespace: runs })
    for (const [host, port] of away.slice(0, 4))
      await eventually(`${host}:${port} can be reached`, async () => ((await reaches(host, port)) ? true : undefined))
    await eventually('the run can be reached', async () => ((await fromOutside()) ? true : undefined))
  })
})

describe.skipIf(!isEnforced)('the networks of a Compose file, in a namespace of the platform', () => {
  const namespace = `networks-file-${process.pid}`
  const cwd = mkdtempSync(join(tmpdir(), 'devctl-networks-'))
  afterAll(async () => {
    rmSync(cwd, { recursive: true })
    await cluster!.deleteNamespace(namespace)
  })

  test('separate its services, and an internal one has no way out', async () => {
    const admin = await connectCluster({ env: process.env })
    const { node } = await clusterAddresses(admin)
    // The ingress controller of the node stands for the world outside.
    const networks = (await clusterNetworks(admin, AbortSignal.timeout(60_000))).filter(one => one !== `${node}/32`)
    await makeManaged(admin, namespace, networks)
    // Without a host: which ones there may be, a platform in this cluster decides.
    const file = readFileSync(join(root, 'examples/networks/compose.yaml'), 'utf8')
    writeFileSync(join(cwd, 'compose.yaml'), file.replace('ports: ["8080:80"]', 'expose: ["80"]'))
    const env = { KUBECONFIG: process.env.KUBECONFIG ?? '', DEVCTL_NAMESPACE: namespace }
    const { status, stderr } = await run(['deploy', '--wait'], { cwd, env })
    expect(status, stderr).toBe(0)
    await startClient(cluster!, namespace, 'apart')
    const pods = await admin.list({ apiVersion: 'v1', kind: 'Pod', namespace })
    const podOf = (service: string) =>
      pods.find(({ metadata }) => metadata.labels?.['dev.platform/service'] === service)?.metadata.name ?? service
    for (const [from, host, port, wanted] of [
      ['web', 'api', 8000, true],
      ['web', 'store', 6379, false],
      ['api', 'store', 6379, true],
      ['backup', 'store', 6379, true],
      ['api', 'web', 80, true],
      ['backup', 'web', 80, false],
      ['backup', node, 80, false],
      ['web', node, 80, true],
      // What is beside them in the namespace has no network in common with them.
      ['apart', 'store', 6379, false],
      ['apart', node, 80, true],
    ] as const)
      await eventually(`from ${from}, ${host} ${wanted ? 'can' : 'cannot'} be reached`, async () =>
        (await tryInPod(cluster!, namespace, podOf(from), connect(host, port))) === wanted ? true : undefined,
      )
  })
})
