import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import { ASLEEP } from '../../../../../platform/records/asleep.ts'
import { MANAGED_LABEL, RECORD_LABEL } from '../../../../../platform/records/names.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { Sleep } from '../../../../../platform/server/sleep/sleep.ts'
import { keptAwake } from '../../../../../platform/server/sleep/suspend-rules.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

// Sleep stores its state in an annotation of the Namespace, which must have room for the annotations of its wake and
// deletion.

const object = (kind: string, annotations: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'x/v1',
  kind,
  metadata: { name: 'web', namespace: 'shop', annotations },
})

test.each([
  ['Ingress', 'kubernetes.io/ingress.class'],
  ['ScaledObject', 'autoscaling.keda.sh/paused-replicas'],
])('an annotation of an %s that is longer than any name is not remembered', (kind, key) => {
  expect(keptAwake(object(kind, { [key]: 'x'.repeat(253) }))).toBeUndefined()
  expect(keptAwake(object(kind, { [key]: 'x'.repeat(254) }))).toBe(
    `\`${kind.toLowerCase()}/web\` stays as it is: \`${key}\` has more than 253 characters`,
  )
})

test('a namespace with too many workloads cannot sleep, and nothing is stopped', async () => {
  const cluster = new MemoryCluster({ namespaces: ['shop'] })
  const labels = { [MANAGED_LABEL]: 'true', [RECORD_LABEL]: 'namespace' }
  const annotations = { 'dev.platform/owner': 'a'.repeat(16) }
  const shop = { apiVersion: 'v1', kind: 'Namespace', name: 'shop' }
  await cluster.patch(shop, { metadata: { labels, annotations } }, { manager: 'test' })
  cluster.register({
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    name: 'scaledobjects',
    namespaced: true,
    hasStatus: true,
  })
  for (let at = 0; at < 500; at++)
    await cluster.create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: `${'x'.repeat(249)}${at}`, namespace: 'shop' },
      spec: { replicas: 1, selector: {}, template: {} },
    })
  const world = { cluster, settings: { domain: 'dev.example.com' }, now: () => 1000, log: () => {} }
  const sleep = new Sleep(world as unknown as ServerContext)
  cluster.calls.length = 0
  await expect(sleep.sleep({ name: 'shop' })).rejects.toMatchObject({
    status: 409,
    message: 'namespace `shop` has too many workloads and routes to sleep',
  })
  expect(cluster.calls.filter(({ verb }) => verb === 'patch')).toEqual([])
  const live = await cluster.get(shop)
  expect(live?.metadata.annotations?.[ASLEEP]).toBeUndefined()
})
