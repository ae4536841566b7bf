import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect as connectCluster } from '../../adapters/kubernetes/kube-cluster.ts'
import { clusterNetworks } from '../../operations/platform/cluster-networks.ts'
import { MANAGED_LABEL } from '../../platform/records/names.ts'
import { surroundings } from '../../platform/server/namespace-objects.ts'
import { eventually, findCluster } from '../cluster/cluster.ts'
import { connect, enforcesPolicies, startClient, tryInPod } from '../cluster/reachability.ts'

// What a Pod in a namespace of the platform reaches, with the policies enforced: nothing of others, and nothing of the cluster.

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined
const isEnforced = cluster !== undefined && (await enforcesPolicies(cluster))
if (cluster && !isEnforced && process.env.EXPECT_POLICIES) throw new Error('NetworkPolicies are not enforced')

const [mine, others] = [`walls-a-${process.pid}`, `walls-b-${process.pid}`]
const PORT = 6379

describe.skipIf(!isEnforced)('the walls of a namespace', () => {
  let networks: readonly string[]
  const address: Record<string, string> = {}
  const reaches = (host: string, port: number) => tryInPod(cluster!, mine, 'client', connect(host, port))

  beforeAll(async () => {
    const admin = await connectCluster({ env: process.env })
    networks = await clusterNetworks(admin, AbortSignal.timeout(30_000))
    for (const name of [mine, others]) {
      await admin.create({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels: { [MANAGED_LABEL]: 'true' } },
      })
      for (const object of surroundings(name, networks)) await admin.apply(object, { manager: 'test', force: true })
    }
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
      const live = await admin.get({ apiVersion: 'v1', kind: 'Pod', name: pod, namespace })
      address[pod] = (live!['status'] as { podIP: string }).podIP
    }
    const nodes = await admin.list({ apiVersion: 'v1', kind: 'Node' })
    const { addresses } = nodes[0]!['status'] as { addresses: { type: string; address: string }[] }
    address['node'] = addresses.find(({ type }) => type === 'InternalIP')!.address
    const api = await admin.get({ apiVersion: 'v1', kind: 'Service', name: 'kubernetes', namespace: 'default' })
    address['api'] = (api!['spec'] as { clusterIP: string }).clusterIP
  })
  afterAll(async () => {
    if (!cluster) return
    await Promise.all([mine, others].map(one => cluster.deleteNamespace(one)))
    cluster.close()
  })

  test('its own Pods and Services can be reached, by name too', async () => {
    for (const host of [address['friend']!, address['friend service']!, 'one'])
      await eventually(`${host} can be reached`, 20, async () => ((await reaches(host, PORT)) ? true : undefined))
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

  test('without its policy it could: the test sees a way where there is one', async () => {
    const admin = await connectCluster({ env: process.env })
    for (const namespace of [mine, others])
      await admin.delete({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name: 'devctl', namespace })
    for (const [host, port] of [
      [address['other']!, PORT],
      [address['node']!, 6443],
      [address['api']!, 443],
    ] as const)
      await eventually(`${host}:${port} can be reached`, 20, async () =>
        (await reaches(host, port)) ? true : undefined,
      )
  })
})
