import { expect, test, vi } from 'vitest'
import type { KubeObject } from '../../../../../adapters/kubernetes/cluster.ts'
import { Warnings } from '../../../../../environment/status/events.ts'
import { listServices } from '../../../../../environment/status/service-status.ts'
import { SharedBudget } from '../../../../../platform/rules/shared-budget.ts'
import { ObjectCache, type Room } from '../../../../../platform/server/live/object-cache.ts'
import { trimObject } from '../../../../../platform/server/live/trim-object.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

/** Timeout in milliseconds that is enough on a busy machine. */
const LONG = { timeout: 15_000 }

const labels = (service: string) => ({ 'dev.platform/environment': 'shop', 'dev.platform/service': service })
const deployment = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'ns', labels: labels(name), ...metadata },
  spec: {
    replicas: 0,
    selector: { matchLabels: labels(name) },
    template: {
      metadata: { labels: labels(name) },
      spec: { containers: [{ name, image: 'x', env: [{ name: 'PASSWORD', value: 'hunter2' }] }] },
    },
  },
})

async function sceneOf(
  objects: readonly KubeObject[],
  room: Room = { take: () => true, give() {} },
): Promise<ObjectCache> {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  for (const object of objects) await cluster.create(object)
  const scene = new ObjectCache(cluster, 'ns', room, () => {})
  const end = new AbortController()
  await new Promise<void>((resolve, reject) => {
    scene.run(end.signal, resolve).catch(reject)
  })
  end.abort()
  return scene
}

test('trimObject keeps what the state of an object needs, and no other metadata or values', () => {
  const annotations = { big: 'x'.repeat(100_000), 'deployment.kubernetes.io/revision': '3' }
  const found = trimObject(deployment('web', { annotations, managedFields: [{ manager: 'a', fieldsV1: { f: {} } }] }))
  expect(found?.object.metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '3' })
  expect(found?.size).toBeLessThan(1000)
  expect(JSON.stringify(found)).not.toMatch(/hunter2|fieldsV1/)
})

test('trimObject keeps the shown texts of a record, and counts labels as more than their text', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, '']))
  const labels = { 'dev.platform/environment': 'shop' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'devctl-shop', labels } }
  const found = trimObject({ ...object, data: { ...many, by: 'ann' }, binaryData: { ...many, history: 'x' } })
  expect(found?.object).toMatchObject({ data: { by: 'ann' }, binaryData: { history: 'x' } })
  expect(found?.size).toBeLessThan(1000)
  const labelled = trimObject({ ...object, metadata: { ...object.metadata, labels: { ...labels, ...many } } })
  expect(labelled?.size).toBeGreaterThan(16 * 1000 + JSON.stringify(many).length)
})

test('an object that is too large is omitted, and the cache reports that it is cut', async () => {
  const record = (environment: string, text: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `devctl-${environment}`,
      namespace: 'ns',
      labels: { 'dev.platform/environment': environment },
    },
    data: { application: text },
  })
  const scene = await sceneOf([record('big', 'x'.repeat(500_000)), record('small', 'x'), deployment('web')])
  expect(scene.environments().map(({ name }) => name)).toEqual(['shop', 'small'])
  expect(scene.isCut).toBe(true)
})

test('the caches of one user get half of the shared budget, and free it at their end', async () => {
  const budget = new SharedBudget(40_000)
  const roomOf = (who: string): Room => ({
    take: size => budget.take(who, size),
    give: size => budget.give(who, size),
  })
  const many = Array.from({ length: 200 }, (_, number) => deployment(`web-${number}`))
  const cluster = new MemoryCluster({ namespace: 'ns' })
  for (const object of many) await cluster.create(object)
  const open = async (who: string) => {
    const scene = new ObjectCache(cluster, 'ns', roomOf(who), () => {})
    const end = new AbortController()
    const over = new Promise<void>((resolve, reject) => {
      scene.run(end.signal, resolve).catch(error => (end.signal.aborted ? resolve() : reject(error)))
    })
    await over
    return { scene, end }
  }
  const count = ({ scene }: { readonly scene: ObjectCache }) => scene.environment('shop')?.objects.size ?? 0
  const ann = await open('ann')
  expect(ann.scene.isCut).toBe(true)
  expect(budget.taken).toBeGreaterThan(18_000)
  expect(budget.taken).toBeLessThanOrEqual(20_000)
  // A second view of the same person gets nothing, and the first view of another person gets a part.
  const again = await open('ann')
  expect(count(again)).toBe(0)
  const bob = await open('bob')
  expect(count(bob)).toBeGreaterThan(5)
  expect(budget.taken).toBeLessThan(40_000)
  for (const { end } of [ann, again, bob]) end.abort()
  await vi.waitFor(() => expect(budget.taken).toBe(0), LONG)
})

test('the number of environments in a cache is limited', async () => {
  const objects = Array.from({ length: 210 }, (_, index) => {
    const one = deployment(`web-${index}`)
    return { ...one, metadata: { ...one.metadata, labels: { 'dev.platform/environment': `e${index}` } } }
  })
  const scene = await sceneOf(objects)
  expect(scene.environments()).toHaveLength(200)
  expect(scene.isCut).toBe(true)
})

/** Counts the reads of objects for the state of `count` workloads, with as many Pods and warnings. */
function looksFor(count: number): number {
  const warnings = new Warnings()
  let looks = 0
  const counted = (object: KubeObject): KubeObject => {
    const { metadata } = object
    const get = () => {
      looks++
      return metadata
    }
    return Object.defineProperty(object, 'metadata', { get, enumerable: true })
  }
  const objects = Array.from({ length: count }, (_, index) => {
    const uid = `u${index}`
    warnings.set({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `e${index}` },
      involvedObject: { uid, kind: 'Deployment', name: `web-${index}` },
    })
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `p${index}`, labels: labels(`web-${index}`) } }
    return [deployment(`web-${index}`, { uid }), pod].map(counted)
  }).flat()
  expect(listServices({ objects, warnings, urls: [], now: 0 })).toHaveLength(count)
  return looks
}

test('the work grows with the number of objects, not with its square', () => {
  expect(looksFor(4000) / looksFor(400)).toBeLessThan(11)
})

test('the cache knows what an autoscaler says about a Pod without a node, as `ps` does', async () => {
  const scheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' }
  const conditions = [{ ...scheduled, lastTransitionTime: '2026-01-01T00:00:00Z' }]
  const event = (reason: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: reason.toLowerCase(), namespace: 'ns' },
    ...{ type: 'Normal', reason, message: 'no node group fits', involvedObject: { kind: 'Pod', name: 'web-1-a' } },
  })
  const workload = deployment('web')
  const stateWith = async (events: readonly KubeObject[]) => {
    const cluster = new MemoryCluster({ namespace: 'ns' })
    await cluster.create({ ...workload, spec: { ...(workload['spec'] as object), replicas: 1 } })
    const own = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'ns' }
    cluster.act(own, live => ({ ...live, status: { observedGeneration: live.metadata.generation } }), 'controller')
    const pod = await cluster.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web-1-a',
        namespace: 'ns',
        labels: labels('web'),
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 's', controller: true }],
      },
    })
    const { apiVersion, kind, metadata } = pod
    const at = { apiVersion, kind, name: metadata.name, namespace: 'ns' }
    cluster.act(at, live => ({ ...live, status: { phase: 'Pending', conditions } }), 'scheduler')
    for (const one of events)
      await cluster.create({ ...one, involvedObject: { kind: 'Pod', name: 'web-1-a', uid: metadata.uid } })
    const scene = new ObjectCache(cluster, 'ns', { take: () => true, give() {} }, () => {})
    const end = new AbortController()
    await new Promise<void>((resolve, reject) => {
      scene.run(end.signal, resolve).catch(reject)
    })
    const state = () => {
      const objects = [...scene.environment('shop')!.objects.values()]
      return listServices({ objects, warnings: scene.warnings, urls: [], now: Date.now() })[0]?.overview.state
    }
    return { state, end: () => end.abort() }
  }
  const waits = await stateWith([event('Unrelated')])
  expect(waits.state()).toBe('waiting')
  waits.end()
  const refused = await stateWith([event('NotTriggerScaleUp')])
  await vi.waitFor(() => expect(refused.state()).toBe('failed'), LONG)
  refused.end()
})
