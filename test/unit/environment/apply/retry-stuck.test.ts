import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import {
  countRetries,
  findUnreadyWorkloads,
  retryStuckWorkload,
  withJobsAgain,
} from '../../../../environment/apply/retry-stuck.ts'
import { statusOf } from '../../../../environment/rollout/status.ts'
import { Tracker } from '../../../../environment/rollout/tracker.ts'
import { podProblems, workloadProblems } from '../../../../environment/status/problems.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import {
  deploy,
  ENVIRONMENT,
  NAMESPACE,
  newCluster,
  object,
  plan,
  ref,
  wanted,
  workload,
} from '../../../support/objects/deploying.ts'
import { FakeClock, settle } from '../../../support/objects/fake-clock.ts'

const NOW = Date.parse('2026-01-01T12:00:00Z')
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()

const db = workload('StatefulSet', 'db')
const job = workload('Job', 'seed-1', { spec: { template: {} } })
const what = wanted([], [db, job])

/** Creates a Pod of a workload whose container is in this state. */
async function addPod(cluster: MemoryCluster, of: KubeObject, name: string, state: object, more: object = {}) {
  const owner = (await cluster.get(ref(of)))!
  const pod = object(
    'Pod',
    name,
    { spec: { containers: [{ name: 'one' }] } },
    of.metadata.labels?.['dev.platform/service'],
  )
  const { apiVersion, kind, metadata } = owner
  const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid!, controller: true }]
  await cluster.create({ ...pod, metadata: { ...pod.metadata, ownerReferences } })
  cluster.act(ref(pod), live => ({
    ...live,
    status: { phase: 'Pending', containerStatuses: [{ name: 'one', restartCount: 5, state, ...more }] },
  }))
  return ref(pod)
}

async function unready(cluster: MemoryCluster) {
  const { steps } = await plan(cluster, what)
  return { steps, found: await findUnreadyWorkloads(cluster, what, steps, NOW, {}) }
}

describe('retries of stuck workloads', () => {
  test.each([
    ['an image that cannot be pulled', { waiting: { reason: 'ImagePullBackOff' } }, 'its image cannot be pulled'],
    [
      'a Secret that is not there',
      { waiting: { reason: 'CreateContainerConfigError' } },
      'a container cannot be created',
    ],
    ['a crash loop', { waiting: { reason: 'CrashLoopBackOff' } }, 'it keeps exiting'],
  ])('%s makes a new deploy delete the Pod', async (_, state, why) => {
    const cluster = newCluster()
    await deploy(cluster, what)
    const pod = await addPod(cluster, db.object, 'db-0', state)
    const { found } = await unready(cluster)
    expect(found.map(one => [one.workload.service, one.why, one.isStuck])).toEqual([
      ['db', why, true],
      ['seed', 'Job running', false],
    ])
    const [chance] = countRetries(found)
    const done: string[] = []
    await retryStuckWorkload(cluster, chance!, NOW, {}, ({ metadata }) => done.push(metadata.name))
    expect(done).toEqual(['db-0'])
    expect(await cluster.get(pod)).toBeUndefined()
    const live = (await cluster.get(ref(db.object)))!
    expect(live.metadata.annotations?.['dev.platform/retried']).toBe('2026-01-01T12:00:00.000Z')
    expect((await plan(cluster, what)).steps.get(db)?.action, 'and nothing of it is to be changed').toBe('unchanged')
  })

  test('a new deploy leaves running Pods and Pods that are being deleted alone', async () => {
    const cluster = newCluster()
    await deploy(cluster, what)
    await addPod(cluster, db.object, 'db-0', { running: { startedAt: ago(5) } })
    const ending = await addPod(cluster, db.object, 'db-1', { waiting: { reason: 'CrashLoopBackOff' } })
    cluster.act(ending, live => ({
      ...live,
      metadata: { ...live.metadata, finalizers: ['example.com/hold'] },
    }))
    await cluster.delete(ending)
    expect(countRetries((await unready(cluster)).found)).toEqual([])
  })

  test('a new deploy creates a stuck Job again', async () => {
    const cluster = newCluster()
    await deploy(cluster, what)
    await addPod(cluster, job.object, 'seed-1-x', { waiting: { reason: 'ErrImagePull' } })
    const { steps, found } = await unready(cluster)
    expect(countRetries(found)).toEqual([])
    expect(withJobsAgain(steps, found).get(job)).toMatchObject({
      action: 'replace',
      reason: 'the Job is stuck (its image cannot be pulled): it is created again',
    })
    expect(withJobsAgain(steps, found).get(db)?.action).toBe('unchanged')
  })

  test('findUnreadyWorkloads sends no requests if all workloads are ready', async () => {
    const cluster = newCluster()
    const one = wanted([], [db])
    await deploy(cluster, one)
    cluster.act(ref(db.object), live => ({
      ...live,
      status: { observedGeneration: 1, replicas: 1, readyReplicas: 1, updatedReplicas: 1 },
    }))
    const { steps } = await plan(cluster, one)
    cluster.calls.length = 0
    expect(await findUnreadyWorkloads(cluster, one, steps, NOW, {})).toEqual([])
    expect(cluster.calls).toEqual([])
  })
})

describe('evidence from before a deploy', () => {
  const changed = (kind: string, seconds: number, status: object): KubeObject => {
    const one = object(kind, 'web', { spec: { replicas: 1 }, status: { observedGeneration: 1, ...status } })
    const managedFields = [{ manager: 'devctl-retry', operation: 'Apply' as const, time: ago(seconds) }]
    return { ...one, metadata: { ...one.metadata, namespace: NAMESPACE, generation: 1, managedFields } }
  }
  const refused = (seconds: number) => ({
    conditions: [
      { type: 'ReplicaFailure', status: 'True', message: 'exceeded quota: q', lastTransitionTime: ago(seconds) },
    ],
  })
  const warning = (seconds: number) => ({
    reason: 'FailedCreate',
    message: 'exceeded quota: q',
    count: 1,
    time: NOW - seconds * 1000,
    about: { kind: 'ReplicaSet', name: 'web-1', uid: 'u' },
  })

  test('an exceeded quota counts only if it is reported after the change', () => {
    expect(workloadProblems(changed('Deployment', 10, refused(60)), [], [])).toEqual([])
    expect(workloadProblems(changed('Deployment', 10, refused(60)), [warning(10)], []), 'in the same second').toEqual(
      [],
    )
    expect(workloadProblems(changed('Deployment', 10, refused(60)), [warning(8)], [])).toHaveLength(1)
    expect(workloadProblems(changed('Deployment', 10, {}), [warning(8)], []), 'that is over').toEqual([])
    expect(workloadProblems(changed('StatefulSet', 10, {}), [warning(8)], [])).toHaveLength(1)
    expect(workloadProblems(changed('Deployment', 10, refused(8)), [], [])).toHaveLength(1)
  })

  test('a passed progress deadline counts only if it is reported after the change', () => {
    const late = (seconds: number) => ({
      conditions: [
        { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', lastUpdateTime: ago(seconds) },
      ],
    })
    expect(statusOf(changed('Deployment', 10, late(60))).state).toBe('waiting')
    expect(statusOf(changed('Deployment', 10, late(5))).state).toBe('failed')
  })

  test('a failed health check does not count shortly after the start of the deploy', () => {
    const pod: KubeObject = object('Pod', 'web-0', {
      spec: { containers: [{ name: 'web', readinessProbe: { periodSeconds: 1, failureThreshold: 1 } }] },
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: 'web', ready: false, restartCount: 0, state: { running: { startedAt: ago(600) } } },
        ],
      },
    })
    const unhealthy = { ...warning(1), reason: 'Unhealthy', message: 'Readiness probe failed' }
    expect(podProblems(pod, [unhealthy], NOW, new Map(), NOW - 10_000)).toEqual([])
    expect(podProblems(pod, [unhealthy], NOW, new Map(), NOW - 60_000)).toHaveLength(1)
  })

  test('a failed pull or a missing Secret of a Pod that had begun does not count at first', async () => {
    const cluster = newCluster()
    await deploy(cluster, what)
    const pod = await addPod(cluster, db.object, 'db-0', { waiting: { reason: 'ContainerCreating' } })
    const { found } = await unready(cluster)
    expect(countRetries(found)).toEqual([])
    const { uid } = (await cluster.get(pod))!.metadata
    cluster.act(ref(db.object), live => ({ ...live, status: { observedGeneration: 1, replicas: 1 } }))
    expect(found.flatMap(one => one.begun)).toEqual([uid])
    const live = (await cluster.get(ref(db.object)))!
    const problemsOf = async (begun: readonly (string | undefined)[], reason: string, milliseconds: number) => {
      const clock = new FakeClock()
      const tracker = new Tracker(cluster, ENVIRONMENT, NAMESPACE, clock, begun)
      const stop = new AbortController()
      tracker.until(live, () => undefined, stop.signal).catch(() => {})
      cluster.act(pod, live => ({
        ...live,
        status: { containerStatuses: [{ name: 'one', restartCount: 2, state: { waiting: { reason } } }] },
      }))
      await settle()
      clock.skip(milliseconds)
      const problems = tracker.now(live)?.problems.map(({ code }) => code)
      stop.abort()
      tracker.stop()
      return problems
    }
    const begun = [uid]
    expect(await problemsOf(begun, 'ErrImagePull', 5000)).toEqual([])
    expect(await problemsOf(begun, 'CreateContainerConfigError', 5000)).toEqual([])
    expect(await problemsOf(begun, 'CrashLoopBackOff', 5000), 'that takes several attempts').toEqual(['crash-loop'])
    expect(await problemsOf(begun, 'ErrImagePull', 30_000), 'it was tried again').toEqual(['image-pull'])
    expect(await problemsOf([], 'ErrImagePull', 5000), 'a Pod that is new').toEqual(['image-pull'])
  })
})
