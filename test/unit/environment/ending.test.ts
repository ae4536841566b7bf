import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { isLocked, withLease } from '../../../environment/apply/lease.ts'
import { isUpToDate, planChanges } from '../../../environment/plan/changes.ts'
import { NO_CHOICES } from '../../../environment/plan/choices.ts'
import { refuseEndingNamespace } from '../../../environment/plan/namespace.ts'
import { readRecord } from '../../../environment/record/record.ts'
import { readKept, writeKept } from '../../../environment/record/secret-marks.ts'
import type { MemoryCluster } from '../../support/memory-cluster/memory-cluster.ts'
import {
  actions,
  deploy,
  ENVIRONMENT,
  holder,
  NAMESPACE,
  never,
  newCluster,
  object,
  plan,
  ref,
  SOURCE,
  wanted,
  workload,
} from '../../support/objects/deploying.ts'
import { FakeClock } from '../../support/objects/fake-clock.ts'

type Ref = ReturnType<typeof ref>

/** Deletes an object that a finalizer keeps for a while. */
async function endSlowly(cluster: MemoryCluster, what: Ref): Promise<void> {
  cluster.act(what, ({ metadata, ...rest }) => ({
    ...(rest as KubeObject), // complete with its metadata
    metadata: { ...metadata, finalizers: ['example.com/hold'] },
  }))
  await cluster.delete(what)
  expect((await cluster.get(what))?.metadata.deletionTimestamp).toBeDefined()
}

/** Removes the finalizer, which completes the deletion. */
const letGo = (cluster: MemoryCluster, what: Ref) =>
  cluster.act(what, ({ metadata, ...rest }) => ({
    ...(rest as KubeObject), // complete with its metadata
    metadata: { ...metadata, finalizers: [] },
  }))

/** Removes the finalizer when the deploy waits for the deletion. */
function letGoWhenWatched(cluster: MemoryCluster, what: Ref): void {
  cluster.before = async ({ verb, kind }) => {
    if (verb !== 'watch' || kind !== what.kind) return
    cluster.before = () => {}
    setImmediate(() => letGo(cluster, what))
  }
}

const uidOf = async (cluster: MemoryCluster, what: Ref) => (await cluster.get(what))?.metadata.uid

const own = (kind: 'ConfigMap' | 'Lease' | 'Secret'): Ref => ({
  apiVersion: kind === 'Lease' ? 'coordination.k8s.io/v1' : 'v1',
  kind,
  name: `devctl-${ENVIRONMENT}`,
  namespace: NAMESPACE,
})

describe('objects that are being deleted', () => {
  const page = object('ConfigMap', 'page', { data: { a: '1' } })
  test.each([
    ['a ConfigMap', wanted([page]), page],
    ['a Service', wanted([object('Service', 'web', { spec: { ports: [{ port: 80 }] } })]), object('Service', 'web')],
    [
      'a claim',
      wanted([object('PersistentVolumeClaim', 'data', { spec: {} })]),
      object('PersistentVolumeClaim', 'data'),
    ],
    ['a Deployment', wanted([], [workload('Deployment', 'web')]), object('Deployment', 'web')],
    ['a StatefulSet', wanted([], [workload('StatefulSet', 'db')]), object('StatefulSet', 'db')],
    ['a Job', wanted([], [workload('Job', 'migrate-1', { spec: { template: {} } })]), object('Job', 'migrate-1')],
    ['a route', wanted([], [], [object('Ingress', 'web', { spec: {} })]), object('Ingress', 'web')],
  ])('%s that is being deleted is waited for and created again', async (_, what, of) => {
    const cluster = newCluster()
    await deploy(cluster, what)
    const before = await uidOf(cluster, ref(of))
    await endSlowly(cluster, ref(of))
    const changes = await plan(cluster, what)
    expect(isUpToDate(changes)).toBe(false)
    expect(actions(changes)).toContain(`replace ${of.kind.toLowerCase()}/${of.metadata.name}`)
    letGoWhenWatched(cluster, ref(of))
    expect(await deploy(cluster, what)).toContain(`replace ${of.kind.toLowerCase()}/${of.metadata.name}`)
    const after = await cluster.get(ref(of))
    expect(after?.metadata.uid).not.toBe(before)
    expect(after?.metadata.deletionTimestamp).toBeUndefined()
    expect(isUpToDate(await plan(cluster, what))).toBe(true)
  })

  test('an unlabeled object that is being deleted is replaced, also without a record', async () => {
    const cluster = newCluster()
    const theirs = { ...page, metadata: { name: 'page', namespace: NAMESPACE } }
    await cluster.create(theirs)
    await endSlowly(cluster, ref(page))
    expect(actions(await plan(cluster, wanted([page])))).toEqual(['replace configmap/page'])
  })

  test('an object that is deleted between plan and apply is created again', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([page]))
    const before = await uidOf(cluster, ref(page))
    const other = { ...page, data: { a: '2' } }
    cluster.before = async ({ verb, kind, dryRun }) => {
      if (verb !== 'patch' || kind !== 'ConfigMap' || dryRun) return
      cluster.before = () => {}
      await endSlowly(cluster, ref(page))
      letGoWhenWatched(cluster, ref(page))
    }
    await deploy(cluster, wanted([other]))
    expect(await uidOf(cluster, ref(page))).not.toBe(before)
    expect((await cluster.get(ref(page)))?.['data']).toEqual({ a: '2' })
  })

  test('an object that left the files and is being deleted is neither pruned nor kept', async () => {
    const cluster = newCluster()
    const claim = object('PersistentVolumeClaim', 'data', { spec: {} })
    await deploy(cluster, wanted([page, claim]))
    await endSlowly(cluster, ref(page))
    await endSlowly(cluster, ref(claim))
    expect(actions(await plan(cluster, wanted([])))).toEqual([])
  })
})

describe('a claim that Pods use', () => {
  const claim = object('PersistentVolumeClaim', 'data', { spec: {} })
  const what = wanted([claim], [workload('StatefulSet', 'db')])
  const using = (owner: KubeObject | undefined): KubeObject => ({
    ...object('Pod', 'db-0', { spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] } }),
    metadata: {
      name: 'db-0',
      namespace: NAMESPACE,
      ...(owner && {
        ownerReferences: [
          {
            apiVersion: owner.apiVersion,
            kind: owner.kind,
            name: owner.metadata.name,
            uid: owner.metadata.uid!,
            controller: true,
          },
        ],
      }),
    },
  })

  test('a claim in deletion that Pods use is refused, with the names of the Pods', async () => {
    const cluster = newCluster()
    await deploy(cluster, what)
    await cluster.create(using(await cluster.get(ref(object('StatefulSet', 'db')))))
    await endSlowly(cluster, ref(claim))
    await expect(plan(cluster, what)).rejects.toMatchObject({
      message: 'the claim `data` is being deleted, but Pods still use it',
      notes: ['it is deleted, with its data, when they stop: pod/db-0'],
    })
  })

  test('a claim in deletion is replaced if the owner of its Pods is being deleted, too', async () => {
    const cluster = newCluster()
    await deploy(cluster, what)
    await cluster.create(using(await cluster.get(ref(object('StatefulSet', 'db')))))
    await endSlowly(cluster, ref(claim))
    await endSlowly(cluster, ref(object('StatefulSet', 'db')))
    expect(actions(await plan(cluster, what))).toEqual(['replace persistentvolumeclaim/data', 'replace statefulset/db'])
  })
})

describe('objects of devctl for an environment', () => {
  const page = object('ConfigMap', 'page', { data: { a: '1' } })

  test('a record that is being deleted is read, and written again', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([page, object('Secret', 'key', { data: {} })]))
    await endSlowly(cluster, own('ConfigMap'))
    const recorded = await readRecord(cluster, ENVIRONMENT, NAMESPACE, {})
    const changes = await planChanges(cluster, wanted([page]), { recorded, source: SOURCE, choices: NO_CHOICES }, {})
    expect(isUpToDate(changes)).toBe(false)
    expect(actions(changes), 'its kinds still count').toContain('prune secret/key')
    letGoWhenWatched(cluster, own('ConfigMap'))
    await deploy(cluster, wanted([page]))
    expect(await readRecord(cluster, ENVIRONMENT, NAMESPACE, {})).toMatchObject({ source: SOURCE })
    expect(isUpToDate(await plan(cluster, wanted([page])))).toBe(true)
  })

  test('a Lease that is being deleted is unlocked, and waited for', async () => {
    const cluster = newCluster()
    const clock = new FakeClock()
    const input = {
      cluster,
      environment: ENVIRONMENT,
      namespace: NAMESPACE,
      holder: holder(),
      clock,
      signal: never,
      waiting: () => {},
    }
    await cluster.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: `devctl-${ENVIRONMENT}`, namespace: NAMESPACE },
      spec: { holderIdentity: 'bob@desk (7)' },
    })
    const before = await uidOf(cluster, own('Lease'))
    await endSlowly(cluster, own('Lease'))
    expect(await isLocked(cluster, ENVIRONMENT, NAMESPACE, {})).toBe(false)
    letGoWhenWatched(cluster, own('Lease'))
    await withLease(input, async () => expect(await uidOf(cluster, own('Lease'))).not.toBe(before))
  })

  test('the Secret with the key keeps its content when it is created again', async () => {
    const cluster = newCluster()
    await writeKept(cluster, ENVIRONMENT, NAMESPACE, { key: 'k', variables: { A: '1' } }, { signal: never })
    await endSlowly(cluster, own('Secret'))
    const kept = await readKept(cluster, ENVIRONMENT, NAMESPACE, {})
    expect(kept).toEqual({ key: 'k', variables: { A: '1' }, isEnding: true })
    letGoWhenWatched(cluster, own('Secret'))
    await writeKept(cluster, ENVIRONMENT, NAMESPACE, kept!, { signal: never })
    expect(await readKept(cluster, ENVIRONMENT, NAMESPACE, {})).toEqual({ key: 'k', variables: { A: '1' } })
  })
})

test('a namespace that is being deleted is refused', async () => {
  const cluster = newCluster()
  await cluster.create(object('ConfigMap', 'held', {}))
  await endSlowly(cluster, ref(object('ConfigMap', 'held')))
  await refuseEndingNamespace(cluster, NAMESPACE, {})
  await cluster.delete({ apiVersion: 'v1', kind: 'Namespace', name: NAMESPACE })
  await expect(refuseEndingNamespace(cluster, NAMESPACE, {})).rejects.toMatchObject({
    message: `the namespace \`${NAMESPACE}\` is being deleted`,
  })
})

test('after the timeout, `gone` names the remaining object and the finalizer that blocks it', async () => {
  const cluster = newCluster()
  const page = object('ConfigMap', 'page', { data: { a: '1' } })
  await cluster.create(page)
  await endSlowly(cluster, ref(page))
  const { gone } = await import('../../../environment/apply/removal.ts')
  const live = (await cluster.get(ref(page)))!
  await expect(gone(cluster, [live], AbortSignal.timeout(20))).rejects.toMatchObject({
    message: 'configmap/page is not deleted yet: the finalizer `example.com/hold` blocks the deletion',
    hint: expect.stringContaining(`kubectl patch configmap/page -n ${NAMESPACE} --type merge`),
  })
})
