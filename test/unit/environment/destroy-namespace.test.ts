import { expect, test } from 'vitest'
import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { type DestroyEnvironmentInput, destroyEnvironment } from '../../../environment/apply/destroy.ts'
import type { MemoryCluster } from '../../support/memory-cluster/memory-cluster.ts'
import {
  deploy,
  ENVIRONMENT,
  holder,
  NAMESPACE,
  never,
  newCluster,
  object,
  wanted,
  workload,
} from '../../support/objects/deploying.ts'
import { FakeClock, settle } from '../../support/objects/fake-clock.ts'

const NAMESPACE_REF = { apiVersion: 'v1', kind: 'Namespace', name: NAMESPACE }
const CLAIM_REF = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: 'data', namespace: NAMESPACE }
const OURS = { 'dev.platform/environment': ENVIRONMENT, 'dev.platform/environment-namespace': NAMESPACE }
const kept = { 'dev.platform/policy': 'keep' }

/** Returns a cluster with an environment whose claim and ConfigMap a destroy keeps. */
async function deployed(): Promise<MemoryCluster> {
  const cluster = newCluster()
  const page = object('ConfigMap', 'page')
  const claim = object('PersistentVolumeClaim', 'data', { spec: {} })
  await deploy(
    cluster,
    wanted([{ ...page, metadata: { ...page.metadata, annotations: kept } }, claim], [workload('Deployment', 'web')]),
  )
  return cluster
}

type More = Partial<Pick<DestroyEnvironmentInput, 'wait' | 'volumes' | 'select' | 'before' | 'isNamespaceGone'>>

function destroy(
  cluster: MemoryCluster,
  more: More = {},
  clock = new FakeClock(),
  deleted: (object: string) => void = () => {},
) {
  const events = { planned() {}, deleted, locked() {} }
  const input = { cluster, environment: ENVIRONMENT, namespace: NAMESPACE, holder: holder() }
  return destroyEnvironment({ ...input, volumes: false, wait: false, ...more }, { clock, signal: never, events })
}

/** Deletes the namespace, and returns when it does not exist any more. */
async function remove(cluster: MemoryCluster): Promise<void> {
  await cluster.delete(NAMESPACE_REF)
  await settle()
  expect(await cluster.get(NAMESPACE_REF)).toBeUndefined()
}

/** Deletes the namespace; a finalizer of an object in it keeps it in the state Terminating. */
async function endSlowly(cluster: MemoryCluster): Promise<void> {
  const held = { ...object('ConfigMap', 'held'), metadata: { name: 'held', namespace: NAMESPACE } }
  await cluster.create({ ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } })
  await cluster.delete(NAMESPACE_REF)
  expect((await cluster.get(NAMESPACE_REF))?.metadata.deletionTimestamp).toBeDefined()
}

const ALL: readonly More[] = [{}, { wait: true }, { volumes: true }, { wait: true, volumes: true }]

test.each(ALL)('a destroy with %o in a missing namespace succeeds', async more => {
  const cluster = await deployed()
  await remove(cluster)
  const result = await destroy(cluster, more)
  expect(result).toEqual({ deleted: [], kept: [], held: [], wasEmpty: true, isNamespaceGone: true })
})

test('a destroy of services in a missing namespace succeeds', async () => {
  const cluster = await deployed()
  await remove(cluster)
  const asked: unknown[] = []
  const select: More['select'] = async (objects, namespace) => {
    asked.push(namespace)
    return objects
  }
  expect(await destroy(cluster, { select })).toMatchObject({ wasEmpty: true, isNamespaceGone: true })
  expect(asked).toEqual(['gone'])
})

test('a destroy in a missing namespace deletes objects outside it, without a Lease', async () => {
  const cluster = await deployed()
  const role = (name: string, labels: Readonly<Record<string, string>>): KubeObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
  })
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tools', labels: OURS } })
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
  await cluster.create({ ...object('ConfigMap', 'far'), metadata: { name: 'far', namespace: 'other', labels: OURS } })
  cluster.register({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    name: 'clusterroles',
    namespaced: false,
    hasStatus: false,
  })
  await cluster.create(role('ours', OURS))
  await cluster.create(role('theirs', { ...OURS, 'dev.platform/environment-namespace': 'other' }))
  await remove(cluster)
  const before = cluster.calls.length
  const { deleted, isNamespaceGone, wasEmpty } = await destroy(cluster, { wait: true })
  expect([...deleted].sort()).toEqual(['clusterrole/ours', 'configmap/far', 'namespace/tools'])
  expect({ isNamespaceGone, wasEmpty }).toEqual({ isNamespaceGone: true, wasEmpty: false })
  expect(
    cluster.calls.slice(before).filter(({ kind, verb }) => kind === 'Lease' && verb !== 'get' && verb !== 'list'),
  ).toEqual([])
})

test('a destroy in a missing namespace succeeds although a kind cannot be listed', async () => {
  const cluster = await deployed()
  await remove(cluster)
  cluster.before = async ({ verb, kind }) => {
    if (verb === 'list' && kind === 'PodDisruptionBudget')
      throw new ClusterError('unavailable', 'the conversion webhook is down')
  }
  expect(await destroy(cluster)).toMatchObject({ wasEmpty: true, isNamespaceGone: true })
})

test('the commands run in a missing or ending namespace, but not in an empty one', async () => {
  const states: string[] = []
  const before: More['before'] = async (_signal, state) => void states.push(state)
  const cluster = await deployed()
  await remove(cluster)
  await destroy(cluster, { before })
  expect(states).toEqual(['gone'])
  const empty = newCluster()
  await destroy(empty, { before })
  expect(states, 'nothing was ever deployed to it').toEqual(['gone'])
  await endSlowly(empty)
  await destroy(empty, { before })
  expect(states).toEqual(['gone', 'ending'])
})

/** Denies every call in the namespace, as a platform's cluster does to members after the namespace has been deleted. */
function lock(cluster: MemoryCluster): void {
  cluster.allows = ({ namespace, kind }) => namespace !== NAMESPACE && kind !== 'Namespace'
}

test.each(ALL)('a destroy with %o succeeds in a namespace that is known to be missing, but forbidden', async more => {
  const cluster = await deployed()
  await remove(cluster)
  lock(cluster)
  await expect(destroy(cluster, more)).rejects.toThrow('forbidden')
  const states: string[] = []
  const before: More['before'] = async (_signal, state) => void states.push(state)
  const result = await destroy(cluster, { ...more, before, isNamespaceGone: true })
  expect(result).toEqual({ deleted: [], kept: [], held: [], wasEmpty: true, isNamespaceGone: true })
  expect(states).toEqual(['gone'])
})

test('a claim in a namespace that the user may no longer read is not reported as kept', async () => {
  const cluster = await deployed()
  cluster.before = async ({ verb, kind }) => {
    if (verb !== 'delete' || kind !== 'Lease') return
    cluster.before = () => {}
    await remove(cluster)
    lock(cluster)
  }
  expect((await destroy(cluster)).kept).toEqual([])
})

test('a claim that the user may list, but not read, is reported as kept', async () => {
  const cluster = await deployed()
  cluster.allows = ({ verb, kind }) => !(verb === 'get' && kind === 'PersistentVolumeClaim')
  expect((await destroy(cluster)).kept).toEqual(['configmap/page', 'persistentvolumeclaim/data'])
})

test('a command that fails in a missing namespace fails the destroy', async () => {
  const cluster = newCluster()
  await remove(cluster)
  await expect(destroy(cluster, { before: () => Promise.reject(new Error('no state')) })).rejects.toThrow('no state')
})

test.each(ALL)('a destroy with %o keeps nothing in a namespace that is being deleted', async more => {
  const cluster = await deployed()
  await endSlowly(cluster)
  // The namespace controller has not deleted these objects yet.
  await cluster.create(object('ConfigMap', 'late'))
  await cluster.create(object('PersistentVolumeClaim', 'late', { spec: {} }))
  const result = await destroy(cluster, more)
  expect(result).toMatchObject({ kept: [], held: [], isNamespaceGone: false })
  expect(result.deleted).toContain('configmap/late')
})

test('a claim that is deleted or being deleted during the destroy is not reported as kept', async () => {
  for (const isHeld of [false, true]) {
    const cluster = await deployed()
    if (isHeld)
      cluster.act(CLAIM_REF, ({ metadata, ...rest }) => ({
        ...(rest as KubeObject), // complete with its metadata
        metadata: { ...metadata, finalizers: ['kubernetes.io/pvc-protection'] },
      }))
    const result = await destroy(cluster, {}, new FakeClock(), name => {
      if (name === 'deployment/web') void cluster.delete(CLAIM_REF)
    })
    expect(result.kept).toEqual(['configmap/page'])
  }
})

test('a claim that was created anew during the destroy is not reported as kept', async () => {
  const cluster = await deployed()
  const before = async () => {
    await cluster.delete(CLAIM_REF)
    await cluster.create(object('PersistentVolumeClaim', 'data', { spec: {} }))
  }
  expect((await destroy(cluster, { before })).kept).toEqual(['configmap/page'])
})

test('a destroy reports existing claims and objects with the policy `keep` as kept', async () => {
  const cluster = await deployed()
  expect((await destroy(cluster)).kept).toEqual(['configmap/page', 'persistentvolumeclaim/data'])
  expect(await destroy(cluster)).toMatchObject({
    kept: ['configmap/page', 'persistentvolumeclaim/data'],
    wasEmpty: true,
    isNamespaceGone: false,
  })
})

test('a namespace that is deleted before the Lease is created does not stop a destroy', async () => {
  for (const failure of ['not-found', 'forbidden'] as const) {
    const cluster = await deployed()
    cluster.before = async ({ verb, kind }) => {
      if (verb !== 'create' || kind !== 'Lease') return
      cluster.before = () => {}
      await endSlowly(cluster)
      throw new ClusterError(failure, 'the namespace is being deleted')
    }
    const result = await destroy(cluster)
    expect(result.kept, failure).toEqual([])
  }
})

test('a namespace that is deleted during a destroy does not look like another process', async () => {
  const cluster = await deployed()
  const clock = new FakeClock()
  const before = async (signal: AbortSignal) => {
    await endSlowly(cluster)
    await clock.pass(100_000)
    signal.throwIfAborted()
  }
  const result = await destroy(cluster, { before }, clock)
  expect(result).toMatchObject({ kept: [], wasEmpty: false })
})
