import { expect, test } from 'vitest'
import { replicasOf, setReplicas } from '../../../../environment/apply/scaled.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

const REF = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'default' }

/** Sets the replicas of a Deployment that was read before another client changed it. Returns the final number. */
async function scaledAfter(change: Readonly<Record<string, unknown>>): Promise<number> {
  const cluster = new MemoryCluster({})
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } }
  const { apiVersion, kind, name, namespace } = REF
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  await cluster.create({ apiVersion, kind, metadata: { name, namespace }, spec })
  const live = (await cluster.get(REF))!
  await cluster.patch(REF, change, { manager: 'other' })
  await setReplicas(cluster, live, 3, {})
  return replicasOf((await cluster.get(REF))!)
}

test('setReplicas changes an object whose status a controller has just updated', async () => {
  expect(await scaledAfter({ metadata: { annotations: { 'deployment.kubernetes.io/revision': '2' } } })).toBe(3)
})

test('setReplicas keeps a number of replicas that another client has just set', async () => {
  await expect(scaledAfter({ spec: { replicas: 5 } })).rejects.toMatchObject({ failure: 'conflict' })
})
