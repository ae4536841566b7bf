import { describe, expect, test } from 'vitest'
import { ClusterError, type KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { KINDS } from '../../../../constructs/kinds.ts'
import { type DestroyEnvironmentInput, destroyEnvironment } from '../../../../environment/apply/destroy.ts'
import { WorkloadFailed } from '../../../../environment/rollout/rollout.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import {
  deploy,
  ENVIRONMENT,
  holder,
  NAMESPACE,
  never,
  newCluster,
  object,
  ref,
  wanted,
  workload,
} from '../../../support/objects/deploying.ts'
import { FakeClock, settle } from '../../../support/objects/fake-clock.ts'

const needs = (
  service: string,
  condition: 'service_started' | 'service_healthy' | 'service_completed_successfully',
) => [{ service, condition }]

const ready = {
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: 1,
  availableReplicas: 1,
}
const done = { conditions: [{ type: 'Complete', status: 'True' }] }

const setStatus = (cluster: MemoryCluster, of: KubeObject, status: object) =>
  cluster.act(ref(of), live => ({ ...live, status }))

const isThere = async (cluster: MemoryCluster, of: KubeObject) => (await cluster.get(ref(of))) !== undefined

/** Creates a Pod of a StatefulSet in a phase. */
async function addPod(cluster: MemoryCluster, of: KubeObject, phase: string): Promise<void> {
  const { uid = '' } = (await cluster.get(ref(of)))!.metadata
  const { name } = of.metadata
  const pod = object('Pod', `${name}-0`, { spec: { containers: [] } }, name)
  const owner = { apiVersion: of.apiVersion, kind: of.kind, name, uid, controller: true }
  await cluster.create({ ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } })
  setStatus(cluster, pod, { phase })
}

test('a job with several schedules reports once what it waits for', async () => {
  const cluster = newCluster()
  const web = workload('Deployment', 'web')
  const jobs = ['backup', 'backup-2'].map(name =>
    workload('CronJob', name, { spec: {} }, needs('web', 'service_started')),
  )
  const deployed = deploy(cluster, wanted([], [web, ...jobs]))
  await settle()
  await setStatus(cluster, web.object, ready)
  const told = await deployed
  expect(told.filter(one => one.includes('waits for'))).toEqual(['backup waits for web'])
})

describe('the order of a deploy', () => {
  test('a deploy applies configuration, workloads and routes, and deletes unwanted objects last', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([object('ConfigMap', 'old', { data: {} })]))
    const what = wanted(
      [object('ConfigMap', 'page', { data: {} }), object('Service', 'web', { spec: {} })],
      [workload('Deployment', 'web')],
      [object('Ingress', 'web', { spec: {} })],
    )
    expect(await deploy(cluster, what)).toEqual([
      'create configmap/page',
      'create service/web',
      'create deployment/web',
      'create ingress/web',
      'delete configmap/old',
    ])
  })

  const db = workload('StatefulSet', 'db')
  const seed = workload('Job', 'seed', { spec: { template: {} } })

  test.each([
    [
      'service_healthy',
      db,
      async (cluster: MemoryCluster) => {
        setStatus(cluster, db.object, ready)
      },
    ],
    [
      'service_started',
      db,
      async (cluster: MemoryCluster) => {
        setStatus(cluster, db.object, { observedGeneration: 1 })
        await addPod(cluster, db.object, 'Running')
      },
    ],
    [
      'service_completed_successfully',
      seed,
      async (cluster: MemoryCluster) => {
        setStatus(cluster, seed.object, done)
      },
    ],
  ] as const)('a workload waits for %s, and no longer', async (condition, needed, reach) => {
    const cluster = newCluster()
    const web = workload('Deployment', 'web', { spec: { replicas: 1 } }, needs(needed.service, condition))
    const deploying = deploy(cluster, wanted([], [needed, web]))
    await settle()
    expect(await isThere(cluster, needed.object)).toBe(true)
    expect(await isThere(cluster, web.object)).toBe(false)
    await reach(cluster)
    expect(await deploying).toContain(`web waits for ${needed.service}`)
    expect(await isThere(cluster, web.object)).toBe(true)
  })

  test('a running Pod does not make its service healthy', async () => {
    const cluster = newCluster()
    const web = workload('Deployment', 'web', { spec: {} }, needs('db', 'service_healthy'))
    const deploying = deploy(cluster, wanted([], [db, web]))
    await settle()
    await addPod(cluster, db.object, 'Running')
    await settle()
    expect(await isThere(cluster, web.object)).toBe(false)
    setStatus(cluster, db.object, ready)
    await deploying
  })

  test('independent workloads are applied at the same time, and --wait waits for all of them', async () => {
    const cluster = newCluster()
    const [web, api] = [workload('StatefulSet', 'web'), workload('StatefulSet', 'api')]
    let isOver = false
    const deploying = deploy(cluster, wanted([], [web, api]), { wait: true }).then(() => {
      isOver = true
    })
    await settle()
    expect(await isThere(cluster, web.object)).toBe(true)
    expect(await isThere(cluster, api.object)).toBe(true)
    setStatus(cluster, web.object, ready)
    await settle()
    expect(isOver).toBe(false)
    setStatus(cluster, api.object, ready)
    await deploying
  })

  test('a failed workload soon ends all other waits, which are no failures', async () => {
    const cluster = newCluster()
    const clock = new FakeClock()
    const bad = workload('Job', 'bad', { spec: { template: {} } })
    const slow = workload('StatefulSet', 'slow')
    const web = workload('Deployment', 'web', { spec: {} }, needs('slow', 'service_healthy'))
    const deploying = deploy(cluster, wanted([], [bad, slow, web]), { wait: true }, clock).catch(error => error)
    await settle()
    setStatus(cluster, bad.object, { conditions: [{ type: 'Failed', status: 'True' }] })
    await settle()
    await clock.pass(4000)
    const failure = await deploying
    expect(failure).toBeInstanceOf(WorkloadFailed)
    expect(failure.workload.service).toBe('bad')
    expect(await isThere(cluster, web.object)).toBe(false)
  })

  test('a failed Job ends the waits for it, and nothing is pruned', async () => {
    const cluster = newCluster()
    const old = object('ConfigMap', 'old', { data: {} })
    await deploy(cluster, wanted([old]))
    const web = workload('Deployment', 'web', { spec: {} }, needs('seed', 'service_completed_successfully'))
    const deploying = deploy(cluster, wanted([], [seed, web])).catch(error => error)
    await settle()
    setStatus(cluster, seed.object, { conditions: [{ type: 'Failed', status: 'True', message: 'too often' }] })
    const error = await deploying
    expect(error).toBeInstanceOf(WorkloadFailed)
    expect(error).toMatchObject({
      workload: { service: 'seed' },
      tracked: { status: { text: 'Job failed: too often' } },
    })
    expect(await isThere(cluster, web.object)).toBe(false)
    expect(await isThere(cluster, old)).toBe(true)
  })

  test('a deploy continues when its watches restart', async () => {
    const cluster = newCluster()
    const deploying = deploy(cluster, wanted([], [db]), { wait: true })
    await settle()
    cluster.restartWatches()
    await settle()
    setStatus(cluster, db.object, ready)
    cluster.restartWatches()
    await deploying
  })
})

describe('destroy', () => {
  const page = object('ConfigMap', 'page', { data: {} })
  const claim = object('PersistentVolumeClaim', 'data', { spec: { resources: {} } })
  const service = object('Service', 'web', { spec: {} })
  const kept = object('ConfigMap', 'kept', { data: {} })
  const keeping = {
    ...kept,
    metadata: { ...kept.metadata, annotations: { 'dev.platform/policy': 'keep' } },
  }
  const web = workload('Deployment', 'web')
  const all = wanted([page, keeping, claim, service], [web], [object('Ingress', 'web', { spec: {} })])

  const destroy = (cluster: MemoryCluster, more: Partial<DestroyEnvironmentInput> = {}) =>
    destroyEnvironment(
      {
        cluster,
        environment: ENVIRONMENT,
        namespace: NAMESPACE,
        holder: holder(),
        volumes: false,
        wait: false,
        ...more,
      },
      { clock: new FakeClock(), signal: never, events: { planned() {}, deleted() {}, locked() {} } },
    )

  test('destroy deletes in reverse order, and keeps claims and objects with the policy `keep`', async () => {
    const cluster = newCluster()
    await deploy(cluster, all)
    const result = await destroy(cluster)
    expect(result).toMatchObject({ kept: ['configmap/kept', 'persistentvolumeclaim/data'], wasEmpty: false })
    expect(result.deleted.toSorted()).toEqual(['configmap/page', 'deployment/web', 'ingress/web', 'service/web'])
    const deleted = cluster.calls.filter(({ verb }) => verb === 'delete').map(({ kind, name }) => `${kind}/${name}`)
    expect(deleted).toEqual([
      'Ingress/web',
      'Deployment/web',
      'Service/web',
      'ConfigMap/page',
      'Secret/devctl-shop',
      'ConfigMap/devctl-shop',
      'Lease/devctl-shop',
    ])
  })

  test('destroy deletes claims only on request, and a second destroy finds nothing', async () => {
    const cluster = newCluster()
    await deploy(cluster, all)
    await destroy(cluster)
    expect(await destroy(cluster, { volumes: true })).toMatchObject({ deleted: ['persistentvolumeclaim/data'] })
    expect(await destroy(cluster, { volumes: true })).toEqual({
      held: [],
      deleted: [],
      kept: ['configmap/kept'],
      wasEmpty: true,
      isNamespaceGone: false,
    })
  })

  test.each<[string, (call: { kind: string }) => boolean, number]>([
    ['every kind', () => true, KINDS.length],
    ['kinds that the user may list', ({ kind }) => kind !== 'Role' && kind !== 'RoleBinding', KINDS.length - 2],
  ])('destroy without a record finds %s', async (_, allows, count) => {
    const cluster = newCluster()
    for (const { apiVersion, kind, ...of } of KINDS) {
      const name = `${kind.toLowerCase()}s`
      if (of.isExtra && !(await cluster.resource(apiVersion, kind)))
        cluster.register({ apiVersion, kind, name, namespaced: true, hasStatus: false })
      await cluster.create({ ...object(kind, 'lost'), apiVersion })
    }
    cluster.allows = allows
    expect((await destroy(cluster, { volumes: true })).deleted).toHaveLength(count)
  })

  test('destroy without a record fails if it may not list a kind that every environment has', async () => {
    const cluster = newCluster()
    cluster.allows = ({ kind }) => kind !== 'Service'
    await expect(destroy(cluster)).rejects.toThrow('forbidden')
  })

  test('destroy continues where it was cut off', async () => {
    const cluster = newCluster()
    await deploy(cluster, all)
    cluster.before = ({ verb, kind }) => {
      if (verb === 'delete' && kind === 'Service') throw new ClusterError('unreachable', 'cut')
    }
    await expect(destroy(cluster)).rejects.toThrow('cut')
    expect(await isThere(cluster, web.object)).toBe(false)
    expect(await isThere(cluster, page)).toBe(true)
    cluster.before = () => {}
    expect((await destroy(cluster)).deleted.toSorted()).toEqual(['configmap/page', 'service/web'])
  })

  test('destroy with --wait waits until all objects are deleted', async () => {
    const cluster = newCluster()
    await deploy(cluster, wanted([], [web]))
    const { uid = '' } = (await cluster.get(ref(web.object)))!.metadata
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid, blockOwnerDeletion: true }
    const pod = object('Pod', 'web-0', { spec: { containers: [] } })
    const metadata = { ...pod.metadata, ownerReferences: [owner], finalizers: ['example.com/slow'] }
    await cluster.create({ ...pod, metadata })
    let isOver = false
    const destroying = destroy(cluster, { wait: true }).then(() => {
      isOver = true
    })
    await settle()
    expect(isOver).toBe(false)
    cluster.act(ref(pod), live => ({ ...live, metadata: { ...live.metadata, finalizers: [] } }))
    await destroying
    expect(await isThere(cluster, web.object)).toBe(false)
  })

  test('destroy leaves other environments alone', async () => {
    const cluster = newCluster()
    await deploy(cluster, all)
    const theirs = {
      ...page,
      metadata: { ...page.metadata, name: 'theirs', labels: { 'dev.platform/environment': 'b' } },
    }
    await cluster.create(theirs)
    await destroy(cluster, { volumes: true })
    expect(await isThere(cluster, theirs)).toBe(true)
  })
})
