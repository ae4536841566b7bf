import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { restartServices } from '../../../../environment/apply/restart.ts'
import type { DesiredWorkload } from '../../../../environment/plan/desired-state.ts'
import { RolloutTimeout, WorkloadFailed } from '../../../../environment/rollout/rollout.ts'
import { explainFailure } from '../../../../environment/status/explain.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import {
  deploy,
  ENVIRONMENT,
  holder,
  NAMESPACE,
  newCluster,
  object,
  ref,
  wanted,
  workload,
} from '../../../support/objects/deploying.ts'
import { FakeClock, settle } from '../../../support/objects/fake-clock.ts'

const SPEC = { containers: [{ name: 'app', image: 'app' }] }
const HOOKED = { initContainers: [{ name: 'hook', image: 'app' }], ...SPEC }
const NEVER_ENDS = { spec: { backoffLimit: 5, template: { spec: { restartPolicy: 'OnFailure' } } } }
const stateful = (name: string, ...needs: readonly string[]): DesiredWorkload =>
  workload(
    'StatefulSet',
    name,
    undefined,
    needs.map(service => ({ service, condition: 'service_started' as const })),
  )

class Scene {
  readonly cluster: MemoryCluster = newCluster()
  readonly clock = new FakeClock()
  readonly deadline = new AbortController()
  readonly statuses: string[] = []
  error: unknown
  isOver = false

  async begin(workloads: readonly DesiredWorkload[], toleratesFailures = false, isWhole = true): Promise<void> {
    const events = {
      status: (service: string, { state, text }: { readonly state: string; readonly text: string }) =>
        void this.statuses.push(`${service}: ${state} ${text}`),
    }
    const options = { wait: isWhole, toleratesFailures }
    deploy(this.cluster, wanted([], workloads), options, this.clock, events, this.deadline.signal)
      .catch(error => {
        this.error = error
      })
      .finally(() => {
        this.isOver = true
      })
    await settle()
  }

  at(seconds = 0): string {
    return new Date(this.clock.now() + seconds * 1000).toISOString()
  }

  async pod({ object: of }: DesiredWorkload, spec: object = SPEC): Promise<KubeObject> {
    const { uid = '' } = (await this.cluster.get(ref(of)))!.metadata
    const { name } = of.metadata
    this.cluster.act(ref(of), live => ({ status: { observedGeneration: 1 }, ...live }))
    const pod = object('Pod', `${name}-0`, { spec }, name)
    const owner = { apiVersion: of.apiVersion, kind: of.kind, name, uid, controller: true }
    return this.cluster.create({ ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } })
  }

  async set(of: KubeObject, status: object, milliseconds = 1000): Promise<void> {
    this.cluster.act(ref(of), live => ({ ...live, status }))
    await this.clock.pass(milliseconds)
  }

  /** Reports a container that has ended `count` times, and waits for its next start. */
  crashed(pod: KubeObject, count: number, container = 'app', milliseconds = 1000): Promise<void> {
    const one = {
      name: container,
      restartCount: count - 1,
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
      lastState: {
        terminated: { exitCode: 1, startedAt: this.at(-2), finishedAt: this.at(-1), containerID: `c${count}` },
      },
    }
    const key = container === 'hook' ? 'initContainerStatuses' : 'containerStatuses'
    return this.set(pod, { phase: container === 'hook' ? 'Pending' : 'Running', [key]: [one] }, milliseconds)
  }

  /** Reports a Pod that runs, and is ready since now. */
  ready(pod: KubeObject): Promise<void> {
    return this.set(pod, {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: this.at() }],
      containerStatuses: [{ name: 'app', restartCount: 0, ready: true, state: { running: { startedAt: this.at() } } }],
    })
  }

  whole({ object: of }: DesiredWorkload): Promise<void> {
    const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }
    return this.set(of, { observedGeneration: 1, ...counts })
  }

  async end(): Promise<void> {
    this.deadline.abort(new DOMException('late', 'TimeoutError'))
    await settle()
  }

  /** Returns the report at the end. */
  async told() {
    const all = this.error instanceof RolloutTimeout ? this.error.late : [this.error as WorkloadFailed]
    return (await Promise.all(all.map(one => explainFailure(this.cluster, one, undefined)))).flat()
  }
}

describe('the attempts of a Job', () => {
  const job = workload('Job', 'job', NEVER_ENDS)

  test('failed attempts of a Job end no wait: the fourth one may succeed', async () => {
    const scene = new Scene()
    await scene.begin([job])
    const pod = await scene.pod(job)
    for (const count of [1, 2, 3]) await scene.crashed(pod, count, 'app', 20_000)
    expect(scene).toMatchObject({ isOver: false, error: undefined })
    expect(scene.statuses.at(-1)).toBe('job: waiting it keeps exiting')
    await scene.set(pod, { phase: 'Succeeded' })
    await scene.set(job.object, { conditions: [{ type: 'Complete', status: 'True' }] })
    expect(scene).toMatchObject({ isOver: true, error: undefined })
  })

  test('the wait for a Job ends with its Failed condition, and shows the log of a deleted Pod', async () => {
    const scene = new Scene()
    await scene.begin([job])
    const pod = await scene.pod(job)
    scene.cluster.logBook.print('ns/job-0/app', 'connecting', 'no table `users`')
    scene.cluster.logBook.end('ns/job-0/app', { restart: true })
    await scene.crashed(pod, 1)
    // The last attempt is killed before it prints anything.
    scene.cluster.logBook.end('ns/job-0/app', { restart: true })
    await scene.crashed(pod, 2)
    await scene.cluster.delete(ref(pod))
    await scene.set(job.object, {
      conditions: [{ type: 'Failed', status: 'True', message: 'Job has reached the specified backoff limit' }],
    })
    await scene.clock.pass(3000)
    expect(scene.error).toBeInstanceOf(WorkloadFailed)
    expect(await scene.told()).toMatchObject([
      {
        code: 'deploy/failed',
        message: '`job` has failed: it exited with code 1',
        notes: [
          'Job failed: Job has reached the specified backoff limit',
          'last lines of pod/job-0:',
          '| connecting',
          '| no table `users`',
        ],
        hint: '`devctl logs job` shows more',
      },
    ])
  })

  test('failed attempts of a Job are reported at the deadline with their output', async () => {
    const scene = new Scene()
    await scene.begin([job])
    const pod = await scene.pod(job)
    scene.cluster.logBook.print('ns/job-0/app', 'no database')
    scene.cluster.logBook.end('ns/job-0/app', { restart: true })
    for (const count of [1, 2, 3]) await scene.crashed(pod, count, 'app', 20_000)
    await scene.end()
    expect(await scene.told()).toMatchObject([
      {
        code: 'deploy/crash-loop',
        message: '`job` exited 3 times with code 1',
        notes: expect.arrayContaining(['| no database']),
      },
    ])
  })
})

test('a hook that fails is retried until the deadline', async () => {
  const scene = new Scene()
  const web = stateful('web')
  await scene.begin([web])
  const pod = await scene.pod(web, HOOKED)
  for (const count of [1, 2, 3, 4, 5]) await scene.crashed(pod, count, 'hook', 60_000)
  expect(scene).toMatchObject({ isOver: false, error: undefined })
  await scene.end()
  expect(await scene.told()).toMatchObject([{ code: 'deploy/crash-loop', message: '`web` exited 5 times with code 1' }])
})

describe('a server with a dependency', () => {
  const db = stateful('db')
  const web = stateful('web', 'db')

  async function start() {
    const scene = new Scene()
    await scene.begin([db, web])
    const [first] = [await scene.pod(db)]
    await scene.ready(first)
    await scene.clock.pass(4000)
    await settle()
    const pod = await scene.pod(web)
    return { scene, first, pod }
  }

  test('a server is retried for some time after its dependency has become ready', async () => {
    const { scene, pod } = await start()
    await scene.whole(db)
    for (const count of [1, 2, 3]) await scene.crashed(pod, count, 'app', 15_000)
    expect(scene).toMatchObject({ isOver: false, error: undefined })
    await scene.clock.pass(30_000)
    expect(scene, 'the attempt that failed began before').toMatchObject({ isOver: false, error: undefined })
    await scene.crashed(pod, 4, 'app', 5000)
    expect(scene.error).toMatchObject({ workload: { service: 'web' }, tracked: { problems: [{ code: 'crash-loop' }] } })
  })

  test('a server is retried as long as its dependency is not ready', async () => {
    const { scene, pod } = await start()
    for (const count of [1, 2, 3, 4, 5]) await scene.crashed(pod, count, 'app', 40_000)
    expect(scene).toMatchObject({ isOver: false, error: undefined })
  })

  test('a server is not retried if its dependency fails, too', async () => {
    const { scene, first, pod } = await start()
    await scene.crashed(pod, 3)
    await scene.crashed(first, 3, 'app', 5000)
    expect(scene.isOver).toBe(true)
    const failed = (scene.error as AggregateError).errors as readonly WorkloadFailed[]
    expect(failed.map(one => one.workload.service).sort()).toEqual(['db', 'web'])
  })

  test('a server is not retried if its dependency has been ready for long', async () => {
    const { scene, pod } = await start()
    await scene.whole(db)
    await scene.clock.pass(120_000)
    await scene.crashed(pod, 3, 'app', 5000)
    expect(scene.error).toBeInstanceOf(WorkloadFailed)
  })
})

describe('tolerated failures', () => {
  const web = stateful('web')

  test('a tolerated failure that is fixed in time is a success', async () => {
    const scene = new Scene()
    await scene.begin([web], true)
    const pod = await scene.pod(web)
    await scene.crashed(pod, 5, 'app', 60_000)
    expect(scene).toMatchObject({ isOver: false, error: undefined })
    expect(scene.statuses.at(-1)).toBe('web: failed it keeps exiting')
    await scene.ready(pod)
    await scene.whole(web)
    await scene.clock.pass(20_000)
    expect(scene).toMatchObject({ isOver: true, error: undefined })
  })

  test('tolerated failures are reported at the deadline, but not the services that wait for them', async () => {
    const scene = new Scene()
    const job = workload('Job', 'job', NEVER_ENDS)
    const after = workload('StatefulSet', 'api', undefined, [
      { service: 'job', condition: 'service_completed_successfully' },
    ])
    await scene.begin([web, job, after], true)
    await scene.crashed(await scene.pod(web), 5)
    await scene.set(job.object, { conditions: [{ type: 'Failed', status: 'True', message: 'no' }] }, 60_000)
    expect(scene).toMatchObject({ isOver: false, error: undefined })
    await scene.end()
    expect(scene.error).toBeInstanceOf(RolloutTimeout)
    expect((await scene.told()).map(({ code }) => code).sort()).toEqual(['deploy/crash-loop', 'deploy/failed'])
  })
})

test('a restart that reaches its deadline reports the failed services', async () => {
  const scene = new Scene()
  const [web, api] = [stateful('web'), stateful('api')]
  for (const { object: one } of [web, api]) await scene.cluster.apply(one, { manager: 'devctl' })
  const input = {
    ...{ cluster: scene.cluster, environment: ENVIRONMENT, namespace: NAMESPACE, holder: holder() },
    ...{ wait: true, toleratesFailures: true, services: undefined },
    select: (all: readonly KubeObject[]) => all,
  }
  const events = { done() {}, waiting() {}, status() {}, applied() {}, routed() {}, watching() {}, locked() {} }
  const result = restartServices(input, { clock: scene.clock, signal: scene.deadline.signal, events })
  await settle()
  const observed = { observedGeneration: 2 }
  for (const one of [web, api]) {
    const pod = await scene.pod(one)
    await scene.set(one.object, observed)
    await scene.crashed(pod, 5, 'app', 90_000)
  }
  await scene.end()
  const { failures, failedServices, ended } = await result
  expect(failures.map(({ code }) => code)).toEqual(['deploy/crash-loop', 'deploy/crash-loop'])
  expect([failedServices.toSorted(), ended]).toEqual([['api', 'web'], scene.deadline.signal.reason])
})

describe('a Pod without a node', () => {
  const message = '0/1 nodes are available: 1 Insufficient memory.'
  const web = stateful('web')

  async function start(one = web) {
    const scene = new Scene()
    await scene.begin([one])
    const { uid } = (await scene.cluster.get(ref(one.object)))!.metadata
    const pod = await scene.pod(one)
    const since = scene.at()
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime: since,
    }
    await scene.set(pod, { phase: 'Pending', conditions: [condition] })
    const tell = (reason: string, text: string) => {
      const involvedObject = { kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid }
      const event = { reason, message: text, type: 'Normal', lastTimestamp: scene.at() }
      return scene.cluster.create({ ...object('Event', `web.${reason.toLowerCase()}`), ...event, involvedObject })
    }
    return { scene, pod, tell, uid }
  }

  test('a Pod for which an autoscaler adds a node is waited for until the deadline', async () => {
    const { scene, tell } = await start()
    await scene.clock.pass(20_000)
    await tell('TriggeredScaleUp', 'pod triggered scale-up: [{workers 1->2 (max: 5)}]')
    await scene.clock.pass(600_000)
    expect(scene).toMatchObject({ isOver: false, error: undefined })
    expect(scene.statuses.at(-1)).toBe('web: waiting it cannot be scheduled')
    await scene.end()
    expect(await scene.told()).toMatchObject([
      {
        code: 'deploy/unschedulable',
        notes: [`pod/web-0: ${message}`, 'pod triggered scale-up: [{workers 1->2 (max: 5)}]'],
      },
    ])
  })

  test('a Pod for which no autoscaler adds a node fails', async () => {
    const { scene, tell } = await start()
    await tell('NotTriggerScaleUp', "pod didn't trigger scale-up: 1 max node group size reached")
    await scene.clock.pass(20_000)
    expect(scene.error).toBeInstanceOf(WorkloadFailed)
  })

  test('a Pod without a node is waited for while another Pod ends, and some time after', async () => {
    const { scene } = await start()
    const old = object('Pod', 'old-0', { spec: { ...SPEC, nodeName: 'a' } }, 'old')
    await scene.cluster.create({ ...old, metadata: { ...old.metadata, finalizers: ['example.com/hold'] } })
    await scene.cluster.delete(ref(old))
    await scene.clock.pass(120_000)
    expect(scene).toMatchObject({ isOver: false, error: undefined })
    scene.cluster.act(ref(old), live => ({ ...live, metadata: { ...live.metadata, finalizers: [] } }))
    await scene.clock.pass(25_000)
    expect(scene).toMatchObject({ isOver: false, error: undefined })
    await scene.clock.pass(15_000)
    expect(scene.error).toBeInstanceOf(WorkloadFailed)
  })

  test('a Pod that waits for a node outlasts the progress deadline of its Deployment', async () => {
    const one = workload('Deployment', 'web', { spec: { replicas: 1 } })
    const scene = new Scene()
    await scene.begin([one])
    const { uid = '' } = (await scene.cluster.get(ref(one.object)))!.metadata
    const set = object('ReplicaSet', 'web-1', { spec: {}, status: {} }, 'web')
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid, controller: true }
    const made = await scene.cluster.create({
      ...set,
      apiVersion: 'apps/v1',
      metadata: {
        ...set.metadata,
        annotations: { 'deployment.kubernetes.io/revision': '1' },
        ownerReferences: [owner],
      },
    })
    const pod = object('Pod', 'web-1-a', { spec: SPEC }, 'web')
    const ofSet = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'web-1',
      uid: made.metadata.uid ?? '',
      controller: true,
    }
    const live = await scene.cluster.create({ ...pod, metadata: { ...pod.metadata, ownerReferences: [ofSet] } })
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }
    await scene.set(live, { phase: 'Pending', nominatedNodeName: 'a', conditions: [condition] })
    const progress = {
      type: 'Progressing',
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      lastUpdateTime: '2999-01-01T00:00:00Z',
    }
    await scene.set(one.object, { observedGeneration: 1, replicas: 1, conditions: [progress] }, 10_000)
    expect(scene).toMatchObject({ isOver: false, error: undefined })
  })
})
