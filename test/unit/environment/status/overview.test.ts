import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { findUnreadyWorkloads } from '../../../../environment/apply/retry-stuck.ts'
import { listWarnings, Warnings } from '../../../../environment/status/events.ts'
import { overviewOf } from '../../../../environment/status/overview.ts'
import { inSleep, listServices } from '../../../../environment/status/service-status.ts'
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

const NOW = Date.UTC(2026, 0, 2)
const template = (...containers: readonly { name: string; image: string; env?: readonly object[] }[]) => ({
  spec: { replicas: 1, template: { spec: { containers } } },
})
const service = (name: string, lead: string, port: number) =>
  object('Service', name, { spec: { selector: { 'dev.platform/service': lead }, ports: [{ port }] } }, name)

test('overviewOf returns services with their Pods, addresses and reasons', async () => {
  const cluster = newCluster()
  const web = workload(
    'StatefulSet',
    'web',
    template({ name: 'web', image: 'web:1' }, { name: 'agent', image: 'agent:2' }),
  )
  const route = object(
    'Ingress',
    'web',
    {
      spec: {
        tls: [{ hosts: ['web.example.com'] }],
        rules: [{ host: 'web.example.com', http: { paths: [{ path: '/', backend: { service: { name: 'web' } } }] } }],
      },
    },
    'web',
  )
  const services = [service('web', 'web', 80), service('agent', 'web', 9100), service('api', 'api', 8080)]
  const api = workload('Deployment', 'api', template({ name: 'api', image: 'api:1' }))
  const migrate = workload('Job', 'migrate', template({ name: 'migrate', image: 'busybox' }))
  await deploy(cluster, wanted(services, [web, api, migrate], [route]))
  const status = (of: KubeObject, fields: object) =>
    cluster.act(ref(of), live => ({ ...live, status: { observedGeneration: 1, ...fields } }), 'controller')
  status(web.object, { replicas: 1, readyReplicas: 1, currentRevision: 'a', updateRevision: 'a' })
  status(migrate.object, { succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] })
  const made = (await cluster.get(ref(web.object)))!
  const pod = object('Pod', 'web-0', {}, 'web')
  await cluster.create({
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...pod.metadata.labels, 'controller-revision-hash': 'a' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: made.metadata.uid!, controller: true },
      ],
    },
  })
  cluster.act(
    { apiVersion: 'v1', kind: 'Pod', name: 'web-0', namespace: NAMESPACE },
    live => ({
      ...live,
      status: {
        containerStatuses: [
          { name: 'web', restartCount: 0 },
          { name: 'agent', restartCount: 3 },
        ],
      },
    }),
    'kubelet',
  )
  cluster.calls.length = 0
  const where = { environment: ENVIRONMENT, namespace: NAMESPACE, now: NOW }
  const { record, services: found } = await overviewOf(cluster, where, {})
  expect(record).toBeDefined()
  expect(cluster.calls.length, 'one request for each kind').toBeLessThanOrEqual(12)
  expect(
    found.map(({ service, workload, state, ready, wanted, restarts }) => [
      service,
      workload,
      state,
      `${ready}/${wanted}`,
      restarts,
    ]),
  ).toEqual([
    ['agent', 'statefulset/web', 'ready', '1/1', 3],
    ['api', 'deployment/api', 'waiting', '0/1', 0],
    ['migrate', 'job/migrate', 'complete', '1/1', 0],
    ['web', 'statefulset/web', 'ready', '1/1', 0],
  ])
  expect(found.map(({ image, addresses, internal }) => [image, ...addresses, ...internal])).toEqual([
    ['agent:2', 'agent:9100'],
    ['api:1', 'api:8080'],
    ['busybox'],
    ['web:1', 'https://web.example.com', 'web:80'],
  ])
  expect(found[1]).toMatchObject({ reason: 'starts' })
})

test('overviewOf of an application that was never deployed has no record and no services', async () => {
  expect(await overviewOf(newCluster(), { environment: ENVIRONMENT, namespace: NAMESPACE, now: NOW }, {})).toEqual({
    record: undefined,
    services: [],
  })
})

test.each([
  [false, 'stopped'],
  [true, 'asleep'],
])('a service without replicas is not ready (asleep: %s), but %s', async (isAsleep, state) => {
  const { template: of } = template({ name: 'web', image: 'web' }).spec
  const web = object('Deployment', 'web', { spec: { replicas: 0, template: of }, status: {} }, 'web')
  const agent = object('DaemonSet', 'agent', { spec: { template: of }, status: {} }, 'agent')
  const warnings = await listWarnings(newCluster(), NAMESPACE, {})
  const seen = listServices({ objects: [web, agent], warnings, urls: [], now: NOW })
  const shown = seen.map(({ overview }) => (isAsleep ? inSleep(overview) : overview))
  expect(shown.map(({ service, state, wanted }) => [service, state, wanted])).toEqual([
    ['agent', 'ready', 0],
    ['web', state, 0],
  ])
})

test('a service before its first health check says when the check comes', async () => {
  const readinessProbe = { initialDelaySeconds: 100 }
  const containers = [{ name: 'web', image: 'web', readinessProbe }]
  const made = object(
    'StatefulSet',
    'web',
    { spec: { replicas: 1, template: { spec: { containers } } }, status: { observedGeneration: 1 } },
    'web',
  )
  const web = { ...made, metadata: { ...made.metadata, uid: 'u', generation: 1 } }
  const startedAt = new Date(NOW - 20_000).toISOString()
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true }
  const pod = (status: object) => {
    const one = object('Pod', 'web-0', { spec: { containers }, status: { containerStatuses: [status] } }, 'web')
    return { ...one, metadata: { ...one.metadata, ownerReferences: [owner] } }
  }
  const warnings = await listWarnings(newCluster(), NAMESPACE, {})
  const reasonWith = (status: object) =>
    listServices({ objects: [web, pod(status)], warnings, urls: [], now: NOW })[0]?.overview.reason
  const running = { name: 'web', ready: false, restartCount: 0, state: { running: { startedAt } } }
  expect(reasonWith(running)).toBe('first check in 1 min 20 s')
  expect(reasonWith({ ...running, state: { running: { startedAt: new Date(NOW - 101_000).toISOString() } } })).toBe(
    'starts',
  )
  expect(reasonWith({ ...running, state: { waiting: {} } })).toBe('starts')
})

const exposing = (name: string, spec: object) =>
  object('Service', name, { spec: { selector: { 'dev.platform/service': 'queue' }, ...spec } }, 'queue')

test('a service without a route shows its load balancer, or the port of every node', async () => {
  const cluster = newCluster()
  const queue = workload('Deployment', 'queue', template({ name: 'queue', image: 'redis' }))
  const services = [
    exposing('queue', { ports: [{ port: 6379 }] }),
    exposing('queue-nodeport', { type: 'NodePort', ports: [{ port: 6379, nodePort: 31074 }] }),
    exposing('queue-loadbalancer', { type: 'LoadBalancer', ports: [{ port: 1883, nodePort: 31075 }] }),
  ]
  await deploy(cluster, wanted(services, [queue]))
  const exposed = async () => {
    const { services } = await overviewOf(cluster, { environment: ENVIRONMENT, namespace: NAMESPACE, now: NOW }, {})
    return services.map(one => [one.internal, one.exposed])
  }
  expect(await exposed()).toEqual([[['queue:6379'], ['<pending>:1883', '<node>:31074']]])
  const status = { loadBalancer: { ingress: [{ ip: '203.0.113.7' }, { ip: '2001:db8::7' }] } }
  cluster.act(ref(services[2]!), live => ({ ...live, status }))
  expect(await exposed()).toEqual([[['queue:6379'], ['203.0.113.7:1883', '[2001:db8::7]:1883', '<node>:31074']]])
})

const NO_SECRET = {
  state: { waiting: { reason: 'CreateContainerConfigError', message: 'secret "db-password" not found' } },
}
const NO_KEY = {
  state: {
    waiting: {
      reason: 'CreateContainerConfigError',
      message: "couldn't find key password in Secret shop/db-password",
    },
  },
}
const crashed = (terminated: object) => ({
  restartCount: 4,
  state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container=web' } },
  lastState: { terminated },
})

test.each([
  ['the Secret `db-password` of `web` does not exist; it needs the key `password`', NO_SECRET],
  ['the Secret `db-password` of `web` has no key `password`', NO_KEY],
  ['it keeps exiting: exit code 2', crashed({ exitCode: 2, reason: 'Error' })],
  ['it keeps exiting: exit code 137, out of memory', crashed({ exitCode: 137, reason: 'OOMKilled' })],
])('a service that is not ready has its reason: %s', async (reason, container) => {
  const cluster = newCluster()
  const env = [{ name: 'PGPASSWORD', valueFrom: { secretKeyRef: { name: 'db-password', key: 'password' } } }]
  const web = workload('StatefulSet', 'web', template({ name: 'web', image: 'web', env }))
  await deploy(cluster, wanted([], [web]))
  const revisions = { observedGeneration: 1, currentRevision: 'a', updateRevision: 'a' }
  cluster.act(ref(web.object), live => ({ ...live, status: revisions }))
  const { uid = '' } = (await cluster.get(ref(web.object)))!.metadata
  const pod = object('Pod', 'web-0', {}, 'web')
  const labels = { ...pod.metadata.labels, 'controller-revision-hash': 'a' }
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid, controller: true }
  await cluster.create({ ...pod, metadata: { ...pod.metadata, labels, ownerReferences: [owner] } })
  const status = { phase: 'Pending', containerStatuses: [{ name: 'web', restartCount: 0, ...container }] }
  cluster.act(ref(pod), live => ({ ...live, status }), 'kubelet')
  const { services } = await overviewOf(cluster, { environment: ENVIRONMENT, namespace: NAMESPACE, now: NOW }, {})
  expect(services.map(({ reason }) => reason)).toEqual([reason])
})

const UP = 'pod triggered scale-up: [{workers 1->2 (max: 5)}]'
/** Cases in which the next deploy ends the wait early, so it replaces the Pod. */
const REPLACED: ReadonlySet<string> = new Set(['no word', 'a refusal'])
const NO = "pod didn't trigger scale-up: 1 max node group size reached"

test.each<[what: string, status: object, events: readonly [string, string][], state: string, reason: string]>([
  ['no word', {}, [], 'waiting', 'waits for a node'],
  ['a scale-up', {}, [['TriggeredScaleUp', UP]], 'waiting', `it waits for capacity: ${UP}`],
  ['a refusal', {}, [['NotTriggerScaleUp', NO]], 'failed', 'it cannot be scheduled: 0/1 nodes are available'],
  [
    'a preemption',
    { nominatedNodeName: 'a' },
    [],
    'waiting',
    'it waits for capacity: Pods of lower priority make room on a',
  ],
])(
  'a service whose Pod has had no node for minutes waits or fails, after %s of the autoscaler',
  async (what, more, events, state, reason) => {
    const cluster = newCluster()
    const web = workload('StatefulSet', 'web', template({ name: 'web', image: 'web' }))
    await deploy(cluster, wanted([], [web]))
    const { uid } = (await cluster.get(ref(web.object)))!.metadata
    const pod = object('Pod', 'web-0', {}, 'web')
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: uid!, controller: true }]
    const labels = { ...pod.metadata.labels, 'controller-revision-hash': 'a' }
    await cluster.create({ ...pod, metadata: { ...pod.metadata, labels, ownerReferences } })
    const status = { observedGeneration: 1, replicas: 1, currentRevision: 'a', updateRevision: 'a' }
    cluster.act(ref(web.object), live => ({ ...live, status }), 'controller')
    const lastTransitionTime = new Date(NOW - 240_000).toISOString()
    const message = '0/1 nodes are available'
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime }
    cluster.act(ref(pod), live => ({ ...live, status: { phase: 'Pending', conditions: [condition], ...more } }))
    const involvedObject = { kind: 'Pod', name: 'web-0', uid: (await cluster.get(ref(pod)))!.metadata.uid }
    for (const [reason, message] of [...events, ['Unrelated', 'of something else'] as const])
      await cluster.create({
        ...object('Event', reason.toLowerCase()),
        type: 'Normal',
        reason,
        message,
        involvedObject,
      })
    const where = { environment: ENVIRONMENT, namespace: NAMESPACE, now: NOW }
    expect((await overviewOf(cluster, where, {})).services[0]).toMatchObject({ state, reason })
    const planned = wanted([], [web])
    const { steps } = await plan(cluster, planned)
    const [unready] = await findUnreadyWorkloads(cluster, planned, steps, NOW, {})
    expect(unready?.pods.length, 'the Pods that the next deploy replaces').toBe(REPLACED.has(what) ? 1 : 0)
  },
)

test('a service whose claim has had no class for an hour has failed', () => {
  const made = (kind: string, name: string, fields: object): KubeObject => {
    const plain = object(kind, name, fields, 'db')
    const creationTimestamp = new Date(NOW - 3_600_000).toISOString()
    return { ...plain, metadata: { ...plain.metadata, uid: name, creationTimestamp } }
  }
  const set = made('StatefulSet', 'db', { ...template({ name: 'db', image: 'db:1' }), status: { updateRevision: 'a' } })
  const pod = made('Pod', 'db-0', {
    spec: { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] },
    status: { phase: 'Pending' },
  })
  const owned = {
    ...pod.metadata,
    labels: { ...pod.metadata.labels, 'controller-revision-hash': 'a' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'db', controller: true }],
  }
  const claim = made('PersistentVolumeClaim', 'data', { spec: {}, status: { phase: 'Pending' } })
  const objects = [set, { ...pod, metadata: owned }, claim]
  const [found] = listServices({ objects, warnings: new Warnings(), urls: [], now: NOW })
  expect(found?.overview).toMatchObject({ state: 'failed', reason: expect.stringContaining('no storage class is set') })
})
