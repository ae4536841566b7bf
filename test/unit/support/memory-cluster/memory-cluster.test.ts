import { describe, expect, test } from 'vitest'
import { ClusterError, type KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

// The behavior that every cluster has is in contract.test.ts; the behavior of the cluster in memory alone is here.

const namespace = 'default'
const manager = 'test'
const config = (name: string, data: object = {}, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, ...more },
  data,
})
const ref = (name: string, kind = 'ConfigMap', apiVersion = 'v1') => ({ apiVersion, kind, name, namespace })
const deployment = (replicas?: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    ...(replicas !== undefined && { replicas }),
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'a' }] } },
  },
})

describe('the controls for tests', () => {
  test('`act` plays a controller: the status is its own, and the generation stays', async () => {
    const cluster = new MemoryCluster()
    await cluster.apply(deployment(), { manager })
    cluster.act(ref('web', 'Deployment', 'apps/v1'), object => ({ ...object, status: { readyReplicas: 1 } }))
    const { resourceVersion } = (await cluster.get(ref('web', 'Deployment', 'apps/v1')))!.metadata
    const again = await cluster.apply(deployment(), { manager })
    expect(again.metadata.resourceVersion).toBe(resourceVersion)
    expect(again).toMatchObject({ metadata: { generation: 1 }, status: { readyReplicas: 1 } })
    expect(again.metadata.managedFields).toMatchObject([
      { manager: 'test', operation: 'Apply' },
      { manager: 'controller', operation: 'Update', fieldsV1: { 'f:status': { 'f:readyReplicas': {} } } },
    ])
  })

  test('`act` plays a user, and the next apply finds the conflict', async () => {
    const cluster = new MemoryCluster()
    await cluster.apply(config('a', { a: '1' }), { manager })
    cluster.act(ref('a'), object => ({ ...object, data: { a: '2', b: '2' } }), 'kubectl-edit')
    await expect(cluster.apply(config('a', { a: '1' }), { manager })).rejects.toThrow(
      'Apply failed with 1 conflict: conflict with "kubectl-edit" using v1: .data.a',
    )
    const taken = await cluster.apply(config('a', { a: '1' }), { manager, force: true })
    expect(taken['data']).toEqual({ a: '1', b: '2' })
  })

  test('`calls` lists all requests', async () => {
    const cluster = new MemoryCluster()
    await cluster.apply(config('a'), { manager, dryRun: true })
    await cluster.delete(ref('a'))
    expect(cluster.calls).toEqual([
      { verb: 'patch', kind: 'ConfigMap', name: 'a', namespace, dryRun: true },
      { verb: 'delete', kind: 'ConfigMap', name: 'a', namespace },
    ])
  })

  test('`before` lets a call fail, or keeps it waiting until its signal aborts', async () => {
    const cluster = new MemoryCluster()
    cluster.before = ({ verb }) => {
      if (verb === 'create') throw new ClusterError('unavailable', 'not now')
      return new Promise(() => {})
    }
    await expect(cluster.create(config('a'))).rejects.toThrow('not now')
    const done = new AbortController()
    const waiting = cluster.get(ref('a'), { signal: done.signal })
    done.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })

  test('`restartWatches` starts each watch again with the present objects', async () => {
    const cluster = new MemoryCluster()
    await cluster.create(config('a'))
    await cluster.create(config('b'))
    const watch = cluster.watch({ apiVersion: 'v1', kind: 'ConfigMap', namespace }, {})
    const seen: string[] = []
    for await (const change of watch) {
      if (change.type === 'Listed') continue
      seen.push(change.type === 'Restarted' ? change.type : change.object.metadata.name)
      if (seen.length === 3) {
        await cluster.delete(ref('a'))
        cluster.restartWatches()
      }
      if (seen.length === 5) break
    }
    expect(seen).toEqual(['Restarted', 'a', 'b', 'Restarted', 'b'])
  })

  test('each returned object is a copy', async () => {
    const cluster = new MemoryCluster()
    const made = await cluster.create(config('a', { a: '1' }))
    Object.assign(made['data'] as object, { a: '2' })
    expect((await cluster.get(ref('a')))?.['data']).toEqual({ a: '1' })
  })
})

describe('the behavior of the server', () => {
  test('a deleted namespace is removed with all objects in it', async () => {
    const cluster = new MemoryCluster({ namespaces: ['shop'] })
    await cluster.create(config('a', {}, { namespace: 'shop' }))
    await cluster.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'shop' })
    expect(
      (await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: 'shop' }))?.metadata.deletionTimestamp,
    ).toBeDefined()
    for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
    expect(await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: 'shop' })).toBeUndefined()
    expect(await cluster.get({ ...ref('a'), namespace: 'shop' })).toBeUndefined()
  })

  test('an object with two owners is deleted with the second one', async () => {
    const cluster = new MemoryCluster()
    const owner = async (name: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      uid: (await cluster.create(config(name))).metadata.uid!,
    })
    await cluster.create(config('child', {}, { ownerReferences: [await owner('a'), await owner('b')] }))
    await cluster.delete(ref('a'))
    await new Promise(resolve => setImmediate(resolve))
    expect(await cluster.get(ref('child'))).toBeDefined()
    await cluster.delete(ref('b'))
    await new Promise(resolve => setImmediate(resolve))
    expect(await cluster.get(ref('child'))).toBeUndefined()
  })

  test('the server sets defaults: a replica, an address, encoded secrets', async () => {
    const cluster = new MemoryCluster()
    expect(await cluster.apply(deployment(), { manager })).toMatchObject({ spec: { replicas: 1 } })
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace },
      spec: { ports: [{ port: 1 }] },
    }
    const made = await cluster.apply(service, { manager })
    expect(made).toMatchObject({ spec: { clusterIP: expect.stringMatching(/^10\.96\./) } })
    expect((await cluster.apply(service, { manager })).metadata.resourceVersion).toBe(made.metadata.resourceVersion)
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace }, stringData: { a: 'x' } }
    expect(await cluster.apply(secret, { manager })).toMatchObject({ type: 'Opaque', data: { a: 'eA==' } })
  })

  test.each([
    ['Deployment', 'apps/v1', { selector: { matchLabels: { app: 'a' } } }, { selector: { matchLabels: { app: 'b' } } }],
    ['StatefulSet', 'apps/v1', { serviceName: 'a' }, { serviceName: 'b' }],
    ['Job', 'batch/v1', { template: { spec: { a: 1 } } }, { template: { spec: { a: 2 } } }],
    ['PersistentVolumeClaim', 'v1', { storageClassName: 'a' }, { storageClassName: 'b' }],
    ['Service', 'v1', { ports: [{ port: 1 }] }, { clusterIP: 'None', ports: [{ port: 1 }] }],
  ])('a %s refuses some changes', async (kind, apiVersion, before, after) => {
    const cluster = new MemoryCluster()
    const object = (spec: object) => ({ apiVersion, kind, metadata: { name: 'x', namespace }, spec })
    await cluster.apply(object(before), { manager })
    const refused = cluster.apply(object(after), { manager, dryRun: true })
    await expect(refused).rejects.toMatchObject({ failure: 'invalid', status: 422 })
  })

  test.each([
    ['StatefulSet', 'apps/v1', { replicas: 1 }, { replicas: 2 }],
    [
      'PersistentVolumeClaim',
      'v1',
      { resources: { requests: { storage: '1Gi' } } },
      { resources: { requests: { storage: '2Gi' } } },
    ],
  ])('a %s accepts other changes', async (kind, apiVersion, before, after) => {
    const cluster = new MemoryCluster()
    const object = (spec: object) => ({ apiVersion, kind, metadata: { name: 'x', namespace }, spec })
    await cluster.apply(object(before), { manager })
    expect(await cluster.apply(object(after), { manager })).toMatchObject({ spec: after })
  })
})
