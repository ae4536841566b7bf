import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { failuresIn } from '../../../../environment/apply/deploy.ts'
import type { ApplyEvents } from '../../../../environment/apply/deploy-run.ts'
import { RolloutTimeout, WorkloadFailed } from '../../../../environment/rollout/rollout.ts'
import { explainFailure } from '../../../../environment/status/explain.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import { deploy, newCluster, object, ref, wanted, workload } from '../../../support/objects/deploying.ts'
import { FakeClock, settle } from '../../../support/objects/fake-clock.ts'

const replicas = (ready: number) => ({
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: ready,
  availableReplicas: ready,
})

const setStatus = (cluster: MemoryCluster, of: KubeObject, status: object) =>
  cluster.act(ref(of), live => ({ ...live, status }))

const at = (clock: FakeClock, seconds = 0) => new Date(clock.now() + seconds * 1000).toISOString()

/** Creates the Pod `<name>-0` of a StatefulSet. */
async function addPod(cluster: MemoryCluster, of: KubeObject, spec: object): Promise<KubeObject> {
  const { uid = '' } = (await cluster.get(ref(of)))!.metadata
  const { name } = of.metadata
  const pod = object('Pod', `${name}-0`, { spec }, name)
  const owner = { apiVersion: of.apiVersion, kind: of.kind, name, uid, controller: true }
  return cluster.create({ ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } })
}

const PLAIN = { containers: [{ name: 'app', image: 'app' }] }
const PROBED = { containers: [{ name: 'app', image: 'app', readinessProbe: { exec: { command: ['true'] } } }] }

const running = (clock: FakeClock, restartCount = 0, more: object = {}) => ({
  phase: 'Running',
  containerStatuses: [{ name: 'app', restartCount, state: { running: { startedAt: at(clock) } }, ...more }],
})
const crashed = (restartCount: number) => ({
  phase: 'Running',
  containerStatuses: [
    {
      name: 'app',
      restartCount,
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
      lastState: { terminated: { exitCode: 1 } },
    },
  ],
})

/** Starts a deploy with `--wait` of StatefulSets, each with a Pod. */
async function begin(
  specs: Readonly<Record<string, object>>,
  { after = [], events = {} }: { after?: readonly KubeObject[]; events?: Partial<ApplyEvents> } = {},
) {
  const cluster = newCluster()
  const clock = new FakeClock()
  const workloads = Object.keys(specs).map(name => workload('StatefulSet', name))
  const services = workloads.map(({ service }) =>
    object('Service', service, { spec: { selector: { 'dev.platform/service': service } } }, service),
  )
  const state = { isOver: false, error: undefined as unknown, told: [] as readonly string[] }
  const deploying = deploy(cluster, wanted(services, workloads, after), { wait: true }, clock, events)
    .then(
      told => {
        state.told = told
      },
      error => {
        state.error = error
      },
    )
    .finally(() => {
      state.isOver = true
    })
  await settle()
  const pods = new Map<string, KubeObject>()
  for (const { service, object } of workloads) pods.set(service, await addPod(cluster, object, specs[service]!))
  const pod = async (service: string, status: object) => {
    setStatus(cluster, pods.get(service)!, status)
    await settle()
  }
  const ready = async (service: string, count = 1) => {
    setStatus(cluster, workloads.find(one => one.service === service)!.object, replicas(count))
    await settle()
  }
  return { cluster, clock, state, pod, ready, deploying }
}

describe('stability with --wait', () => {
  test('a service that stops being ready is waited for again', async () => {
    const { clock, state, pod, ready } = await begin({ web: PROBED, api: PROBED })
    await pod('web', running(clock))
    await pod('api', running(clock))
    await ready('web')
    await ready('web', 0)
    await ready('api')
    expect(state.isOver).toBe(false)
    await ready('web')
    expect(state).toMatchObject({ isOver: true, error: undefined })
  })

  test('a crash loop that begins after a service was ready is a failure', async () => {
    const { clock, state, pod, ready } = await begin({ web: PROBED, api: PROBED })
    await pod('web', running(clock))
    await ready('web')
    await clock.pass(20_000)
    await pod('web', crashed(1))
    await ready('web', 0)
    await pod('web', crashed(2))
    await clock.pass(4000)
    expect(state.error).toBeInstanceOf(WorkloadFailed)
    expect(state.error).toMatchObject({ workload: { service: 'web' }, tracked: { problems: [{ code: 'crash-loop' }] } })
  })

  test('a service with a health check is not watched for longer', async () => {
    const { clock, state, pod, ready } = await begin({ web: PROBED })
    await pod('web', running(clock))
    await ready('web')
    expect(state).toMatchObject({ isOver: true, error: undefined })
  })

  test('a service without a health check is watched for four seconds, and is reported once', async () => {
    const told: (readonly string[])[] = []
    const events = { watching: (services: readonly string[]) => told.push(services) }
    const { clock, state, pod, ready } = await begin({ web: PLAIN, api: PROBED }, { events })
    await pod('web', running(clock))
    await pod('api', running(clock))
    await ready('web')
    await ready('api')
    await clock.pass(3500)
    expect(state.isOver).toBe(false)
    expect(told).toEqual([['web']])
    await clock.pass(1500)
    expect(state).toMatchObject({ isOver: true, error: undefined })
  })

  test.each([
    [3, 9, 2],
    [8, 15, 2],
  ])('a service that ran for %i seconds and ended must then run for longer than that', async (ran, short, more) => {
    const { clock, state, pod, ready } = await begin({ web: PLAIN })
    const lastState = { terminated: { exitCode: 1, startedAt: at(clock, -ran), finishedAt: at(clock) } }
    await pod('web', running(clock, 1, { lastState }))
    await ready('web')
    await clock.pass(short * 1000)
    expect(state.isOver).toBe(false)
    await clock.pass(more * 1000)
    expect(state).toMatchObject({ isOver: true, error: undefined })
  })

  test('a service that has ended is not stable, although its controller has not seen the end', async () => {
    const { clock, state, pod, ready } = await begin({ web: PLAIN, api: PROBED })
    await pod('web', running(clock))
    await pod('api', running(clock))
    await ready('web')
    await clock.pass(5000)
    await pod('web', { containerStatuses: [{ name: 'app', restartCount: 0, state: { terminated: { exitCode: 1 } } }] })
    await ready('api')
    await clock.pass(2000)
    expect(state.isOver).toBe(false)
  })

  test('a sidecar without a health check is watched, too', async () => {
    const sidecar = { name: 'side', image: 'side', restartPolicy: 'Always' }
    const { clock, state, pod, ready } = await begin({ web: { ...PROBED, initContainers: [sidecar] } })
    const side = { name: 'side', restartCount: 0, state: { running: { startedAt: at(clock) } } }
    await pod('web', { ...running(clock), initContainerStatuses: [side] })
    await ready('web')
    await clock.pass(3500)
    expect(state.isOver).toBe(false)
    await clock.pass(1500)
    expect(state.isOver).toBe(true)
  })

  test('an evicted Pod does not delay the success of the Pod that replaces it', async () => {
    const { clock, state, pod, ready, cluster } = await begin({ web: PLAIN })
    await pod('web', { phase: 'Failed', reason: 'Evicted', containerStatuses: [{ name: 'app', restartCount: 0 }] })
    const old = (await cluster.get({ apiVersion: 'v1', kind: 'Pod', name: 'web-0', namespace: 'ns' }))!
    const { resourceVersion: _, uid: __, ...metadata } = old.metadata
    const next = await cluster.create({ ...old, metadata: { ...metadata, name: 'web-1' } })
    setStatus(cluster, next, running(clock))
    await ready('web')
    await clock.pass(11_000)
    expect(state).toMatchObject({ isOver: true, error: undefined })
  })
})

describe('a Job that is a server', () => {
  const start = async (
    wait: boolean,
    condition: 'service_healthy' | 'service_completed_successfully',
    signal?: AbortSignal,
  ) => {
    const cluster = newCluster()
    const clock = new FakeClock()
    const job = { ...workload('Job', 'job', { spec: { template: {} } }), isServer: true }
    const web = workload('Deployment', 'web', { spec: { replicas: 1 } }, [{ service: 'job', condition }])
    const state = { isOver: false, error: undefined as unknown }
    deploy(cluster, wanted([], [job, web]), { wait }, clock, {}, signal)
      .catch(error => {
        state.error = error
      })
      .finally(() => {
        state.isOver = true
      })
    await settle()
    const pod = await addPod(cluster, job.object, PROBED)
    setStatus(cluster, pod, { ...running(clock), conditions: [{ type: 'Ready', status: 'True' }] })
    await settle()
    return state
  }

  test('a Job that is a server is ready when its Pod is ready', async () => {
    expect(await start(false, 'service_healthy')).toEqual({ isOver: true, error: undefined })
  })

  test('a Job whose ports make it a server is named at the deadline, with what waits for its end', async () => {
    const [cluster, clock, deadline] = [newCluster(), new FakeClock(), new AbortController()]
    const job = { ...workload('Job', 'job', { spec: { template: {} } }), isServer: true }
    const needs = [{ service: 'job', condition: 'service_completed_successfully' as const }]
    const web = workload('Deployment', 'web', { spec: { replicas: 1 } }, needs)
    const told: string[] = []
    const status = (service: string, { text }: { readonly text: string }) => void told.push(`${service}: ${text}`)
    const result = deploy(cluster, wanted([], [job, web]), { wait: true }, clock, { status }, deadline.signal).catch(
      error => error,
    )
    await settle()
    const pod = await addPod(cluster, job.object, PLAIN)
    setStatus(cluster, pod, { ...running(clock), conditions: [{ type: 'Ready', status: 'True' }] })
    await clock.pass(4000)
    expect(told).toContain('job: Job ready, and running: it is a server')
    deadline.abort(new Error('timed out'))
    const { late } = await result
    expect(late).toHaveLength(1)
    expect(late[0]).toMatchObject({
      workload: { service: 'job' },
      tracked: { status: { text: expect.stringContaining('`web` waits for it to complete; it has ports') } },
    })
  })

  test('a service that waits for the end of a server waits until the deadline', async () => {
    const deadline = new AbortController()
    const state = await start(false, 'service_completed_successfully', deadline.signal)
    expect(state).toMatchObject({ isOver: false, error: undefined })
    deadline.abort(new Error('timed out'))
    await settle()
    expect(state.error).toBeInstanceOf(RolloutTimeout)
    expect((state.error as RolloutTimeout).late).toMatchObject([
      { workload: { service: 'job' }, tracked: { problems: [{ code: 'serves', detail: '`web`' }] } },
    ])
  })
})

describe('a replacement that is blocked until the deadline', () => {
  const FINALIZER = 'example.com/hold'

  /** Replaces a Job that a finalizer holds beside a StatefulSet, and ends at the deadline. */
  async function late(status: (clock: FakeClock) => object) {
    const [cluster, clock, deadline] = [newCluster(), new FakeClock(), new AbortController()]
    const [job, web] = [workload('Job', 'migrate', { spec: { template: {} } }), workload('StatefulSet', 'web')]
    await deploy(cluster, wanted([], [job, web]))
    cluster.act(ref(job.object), live => ({ ...live, metadata: { ...live.metadata, finalizers: [FINALIZER] } }))
    const pod = await addPod(cluster, web.object, PROBED)
    const rerun = new Set(['migrate'])
    const options = { wait: true, rerun }
    const result = deploy(cluster, wanted([], [job, web]), options, clock, {}, deadline.signal).catch(error => error)
    await settle()
    setStatus(cluster, pod, status(clock))
    await clock.pass(4000)
    deadline.abort(new DOMException('timed out', 'TimeoutError'))
    return { cluster, error: await result, signal: deadline.signal }
  }

  test.each([
    ['is not ready', running],
    ['fails', () => crashed(2)],
  ])('it is reported beside a service that %s', async (_, status) => {
    const { cluster, error, signal } = await late(status)
    const failed = error instanceof RolloutTimeout ? error.late : (failuresIn(error, signal) ?? [])
    expect(failed.map(one => one.workload.service).sort()).toEqual(['migrate', 'web'])
    const blocked = failed.find(one => one.workload.service === 'migrate')!
    expect(await explainFailure(cluster, blocked, undefined)).toMatchObject([
      {
        code: 'deploy/not-ready',
        message: '`migrate` was not ready in time',
        notes: [`job/migrate is not deleted yet: the finalizer \`${FINALIZER}\` blocks the deletion`],
        hint: expect.stringContaining('kubectl patch job/migrate -n ns'),
      },
    ])
  })
})

describe('routes', () => {
  const route = (name: string, ...services: readonly string[]) =>
    object('Ingress', name, {
      spec: {
        rules: services.map(service => ({
          host: `${service}.example.com`,
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: service, port: { number: 80 } } } }],
          },
        })),
      },
    })
  const isThere = async (cluster: MemoryCluster, name: string) =>
    (await cluster.get({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name, namespace: 'ns' })) !== undefined

  test('routes of ready services are created although another service failed', async () => {
    const routed: string[] = []
    const { clock, cluster, state, pod, ready } = await begin(
      { web: PROBED, api: PROBED },
      {
        after: [route('web', 'web'), route('api', 'api'), route('both', 'api', 'web')],
        events: { routed: one => routed.push(one.metadata.name) },
      },
    )
    await pod('web', running(clock))
    await ready('web')
    expect(await isThere(cluster, 'web')).toBe(true)
    await ready('api', 0)
    await pod('api', crashed(2))
    await clock.pass(4000)
    expect(state.error).toBeInstanceOf(WorkloadFailed)
    expect(routed.toSorted()).toEqual(['both', 'web'])
    expect(await isThere(cluster, 'api')).toBe(false)
  })

  test('routes of ready services are created while another service is still waited for', async () => {
    const { clock, cluster, state, pod, ready } = await begin(
      { web: PROBED, slow: PROBED },
      { after: [route('web', 'web'), route('slow', 'slow')] },
    )
    await pod('web', running(clock))
    await ready('web')
    expect(await isThere(cluster, 'web')).toBe(true)
    expect(await isThere(cluster, 'slow')).toBe(false)
    expect(state.isOver).toBe(false)
  })
})

describe('workloads that are deleted during the wait', () => {
  /** Starts a deploy that waits, and returns its end. */
  async function waiting() {
    const cluster = newCluster()
    const one = workload('StatefulSet', 'db')
    const done = deploy(cluster, wanted([], [one]), { wait: true })
    done.catch(() => {})
    await settle()
    return { cluster, one, done }
  }

  test('a deleted workload ends the wait', async () => {
    const { cluster, one, done } = await waiting()
    await cluster.delete(ref(one.object))
    await expect(done).rejects.toThrow('`statefulset/db` was deleted while devctl waited for it')
  })

  test('a workload that is being deleted ends the wait', async () => {
    const { cluster, one, done } = await waiting()
    cluster.act(ref(one.object), live => ({
      ...live,
      metadata: { ...live.metadata, finalizers: ['example.com/hold'] },
    }))
    await cluster.delete(ref(one.object))
    await expect(done).rejects.toThrow('`statefulset/db` was deleted while devctl waited for it')
  })

  test.each([
    ['gone', []],
    ['kept by a finalizer', ['example.com/hold']],
  ])('a deleted workload does not count as ready any more: %s', async (_, finalizers) => {
    const statuses = new Map<string, string>()
    const status: ApplyEvents['status'] = (service, { state, text }) => statuses.set(service, `${state} ${text}`)
    const { cluster, clock, state, pod, ready } = await begin({ web: PROBED, api: PROBED }, { events: { status } })
    await pod('web', running(clock))
    await ready('web')
    expect(statuses.get('web')).toBe('ready StatefulSet 1/1 ready')
    const web = ref(object('StatefulSet', 'web'))
    cluster.act(web, live => ({ ...live, metadata: { ...live.metadata, finalizers } }))
    await cluster.delete(web)
    await clock.pass(4000)
    expect(state.isOver).toBe(true)
    expect(statuses.get('web')).toBe('failed StatefulSet was deleted')
  })
})

test('the status of a workload is reported only after its Pods are known', async () => {
  const clock = new FakeClock()
  const first = await begin({ web: PROBED })
  await first.pod('web', running(clock))
  await first.ready('web')
  const { cluster } = first
  cluster.before = async ({ verb, kind }) => {
    if (verb === 'watch' && kind === 'Pod') await new Promise(resolve => setTimeout(resolve, 20))
  }
  const statuses: string[] = []
  const status: ApplyEvents['status'] = (_, { text }) => statuses.push(text)
  await deploy(cluster, wanted([], [workload('StatefulSet', 'web')]), { wait: true }, clock, { status })
  expect(statuses).toEqual(['StatefulSet 1/1 ready'])
})

describe('Pods that a quota refuses', () => {
  const refused = {
    observedGeneration: 1,
    conditions: [
      {
        type: 'ReplicaFailure',
        status: 'True',
        message: 'exceeded quota: none',
        lastTransitionTime: '2999-01-01T00:00:00Z',
      },
    ],
  }

  /** Starts a deploy that has seen a refusal for four seconds. */
  async function start() {
    const [cluster, clock] = [newCluster(), new FakeClock()]
    const web = workload('Deployment', 'web', { spec: { replicas: 1 } })
    const state = { isOver: false, error: undefined as unknown }
    deploy(cluster, wanted([], [web]), { wait: true }, clock)
      .catch(error => {
        state.error = error
      })
      .finally(() => {
        state.isOver = true
      })
    await settle()
    const { uid } = (await cluster.get(ref(web.object)))!.metadata
    let count = 0
    const refuse = () => {
      const involvedObject = { kind: 'Deployment', name: 'web', uid }
      const lastTimestamp = new Date(Date.parse('2999-01-01T00:00:00Z') + ++count * 1000).toISOString()
      const event = { reason: 'FailedCreate', message: 'exceeded quota: none', type: 'Warning' }
      return cluster.create({ ...object('Event', `web.${count}`), ...event, involvedObject, lastTimestamp })
    }
    await refuse()
    setStatus(cluster, web.object, refused)
    await clock.pass(4000)
    return { cluster, clock, web, state, refuse }
  }
  const wasTried = async (cluster: MemoryCluster, { object: web }: { readonly object: KubeObject }) =>
    (await cluster.get(ref(web)))!.metadata.managedFields!.some(({ manager }) => manager === 'devctl-try')

  test('a refusal of Pods that passes is no failure', async () => {
    const { cluster, clock, web, state } = await start()
    expect(state.isOver).toBe(false)
    setStatus(cluster, web.object, replicas(1))
    await clock.pass(20_000)
    expect(state).toEqual({ isOver: true, error: undefined })
  })

  test('refused Pods are requested again at once, while their controller backs off', async () => {
    const { cluster, clock, web, state } = await start()
    await clock.pass(11_000)
    // No newer refusal was seen, and the known one says nothing about the present.
    expect([await wasTried(cluster, web), state.isOver]).toEqual([true, false])
    setStatus(cluster, web.object, replicas(1))
    await clock.pass(20_000)
    expect(state).toEqual({ isOver: true, error: undefined })
  })

  test('Pods that are refused again are a failure', async () => {
    const { clock, state, refuse } = await start()
    await clock.pass(1000)
    expect(state.isOver).toBe(false)
    await refuse()
    await clock.pass(1000)
    expect(state.error).toMatchObject({ workload: { service: 'web' }, tracked: { problems: [{ code: 'refused' }] } })
  })

  test('refused Pods are a failure after twenty seconds without newer events', async () => {
    const { clock, state } = await start()
    await clock.pass(17_000)
    expect(state.error).toMatchObject({ workload: { service: 'web' }, tracked: { problems: [{ code: 'refused' }] } })
  })
})

test.each(['backup', 'backup-2'])('a deploy fails if the cluster refuses the CronJob %s of a job', async refused => {
  const cluster = newCluster()
  const cron = (name: string) => workload('CronJob', name, { spec: { schedule: '@daily' } })
  cluster.before = ({ verb, name, dryRun }) => {
    if (verb === 'patch' && name === refused && !dryRun) throw new Error('no such time zone')
  }
  await expect(deploy(cluster, wanted([], [cron('backup'), cron('backup-2')]))).rejects.toThrow('no such time zone')
})
