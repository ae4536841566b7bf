import { expect, test } from 'vitest'
import { usageTable } from '../../../../cli/run/top.ts'
import { resourceUsage } from '../../../../operations/list/usage.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import { deploy, NAMESPACE, newCluster, object, wanted, workload } from '../../../support/objects/deploying.ts'
import { operationOn } from '../../../support/objects/environment.ts'

const METRICS = { apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics' }

async function clusterWith(services: readonly string[]): Promise<MemoryCluster> {
  const cluster = newCluster()
  const spec = (name: string) => ({ template: { spec: { containers: [{ name, image: 'shop:1' }] } } })
  const workloads = services.map(name => workload('Deployment', name, { spec: spec(name) }))
  await deploy(cluster, wanted([], workloads))
  return cluster
}

function measuredBy(cluster: MemoryCluster): void {
  cluster.register({ ...METRICS, name: 'pods', namespaced: true, hasStatus: false })
}

async function runPod(cluster: MemoryCluster, name: string, service: string, spec: object): Promise<void> {
  await cluster.create(object('Pod', name, { spec }, service))
  const ref = { apiVersion: 'v1', kind: 'Pod', name, namespace: NAMESPACE }
  cluster.act(ref, live => ({ ...live, status: { phase: 'Running' } }))
}

const measure = (cluster: MemoryCluster, name: string, containers: readonly object[]) =>
  cluster.create({ ...METRICS, metadata: { name, namespace: NAMESPACE }, containers })

const RESERVED = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: 2, memory: '1G' } }

test('top lists the usage of each running container next to its requests and limits', async () => {
  const cluster = await clusterWith(['web', 'api'])
  measuredBy(cluster)
  await runPod(cluster, 'web-1', 'web', {
    containers: [{ name: 'web', resources: RESERVED }],
    initContainers: [
      { name: 'prepare', resources: RESERVED },
      { name: 'proxy', restartPolicy: 'Always', resources: { limits: { memory: '8Mi' } } },
    ],
  })
  await runPod(cluster, 'api-1', 'api', { containers: [{ name: 'api' }] })
  await measure(cluster, 'web-1', [
    { name: 'web', usage: { cpu: '12345678n', memory: '35652Ki' } },
    { name: 'proxy', usage: { cpu: '0', memory: '1Mi' } },
  ])
  const { world, project, name } = await operationOn(cluster)
  const rows = await resourceUsage(world, { name }, project)
  expect(rows).toEqual([
    { service: 'api', pod: 'api-1', container: 'api', usage: {}, requests: {}, limits: {} },
    {
      service: 'web',
      pod: 'web-1',
      container: 'web',
      usage: { cpu: 0.013, memory: 36_507_648 },
      requests: { cpu: 0.1, memory: 67_108_864 },
      limits: { cpu: 2, memory: 1_000_000_000 },
    },
    {
      service: 'web',
      pod: 'web-1',
      container: 'proxy',
      usage: { cpu: 0, memory: 1_048_576 },
      requests: {},
      limits: { memory: 8_388_608 },
    },
  ])
  expect(
    usageTable(rows)
      .split('\n')
      .map(line => line.split(/ {2,}/)),
  ).toEqual([
    ['Service', 'Pod', 'Container', 'CPU', 'Requested', 'Limit', 'Memory', 'Requested', 'Limit'],
    ['api', 'api-1', 'api', '-', '-', '-', '-', '-', '-'],
    ['web', 'web-1', 'web', '13m', '100m', '2000m', '35Mi', '64Mi', '954Mi'],
    ['web', 'web-1', 'proxy', '0m', '-', '-', '1Mi', '-', '8Mi'],
    [''],
  ])
  expect(await resourceUsage(world, { name, services: ['api'] }, project)).toEqual([rows[0]])
})

test('top says what is missing in a cluster without a metrics server', async () => {
  const { world, project, name } = await operationOn(await clusterWith(['web']))
  await expect(resourceUsage(world, { name }, project)).rejects.toMatchObject({
    message: 'the cluster has no metrics server, which measures the usage of CPU and memory',
    hint: expect.stringContaining('https://github.com/kubernetes-sigs/metrics-server'),
  })
})

test('top fails if the user may not read metrics', async () => {
  const cluster = await clusterWith(['web'])
  measuredBy(cluster)
  cluster.allows = ({ kind }) => kind !== 'PodMetrics'
  const { world, project, name } = await operationOn(cluster)
  await expect(resourceUsage(world, { name }, project)).rejects.toMatchObject({ failure: 'forbidden' })
})
