import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { compile, type Plan } from '../../../../compiler/index.ts'
import { toManifests } from '../../../../constructs/index.ts'
import { deployEnvironment, planDeploy } from '../../../../environment/apply/deploy.ts'
import { destroyEnvironment } from '../../../../environment/apply/destroy.ts'
import { restartServices } from '../../../../environment/apply/restart.ts'
import type { Clock } from '../../../../environment/clock.ts'
import { NO_CHOICES } from '../../../../environment/plan/choices.ts'
import { nameOf } from '../../../../environment/plan/desired-state.ts'
import { leadsOf, manifestsOf, objectsOfServices, withDependencies } from '../../../../environment/plan/part.ts'
import { readRecord } from '../../../../environment/record/record.ts'
import { createHost } from '../../../../project/node-host.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

const COMPOSE = `
name: shop
services:
  web:
    image: nginx:1.27
    ports: ["80:80"]
    depends_on: {api: {condition: service_healthy}}
    configs: [page]
  agent:
    image: busybox:1.37
    network_mode: service:web
    expose: ["9100"]
  api:
    image: nginx:API
    ports: ["8080:8080"]
    secrets: [token]
    volumes: [data:/data]
    networks: [back, default]
    container_name: backend
    depends_on: {migrate: {condition: service_completed_successfully}}
  migrate: {image: "busybox:1.37", restart: "no", environment: {MODE: up}}
  worker:
    image: busybox:WORKER
    volumes: [data:/data, files:/files]
    secrets: [other]
    configs: [rules]
    networks: [side]
    ports: ["7000:7000"]
networks: {back: {}, side: {}}
configs: {page: {content: hi}, rules: {content: no}}
secrets: {token: {environment: T}, other: {environment: T}}
volumes: {data: {}, files: {}}
endpoints:
  - {path: /, service: web, port: 80}
  - {path: /work, service: worker, port: 7000}
`

function planOf(text = COMPOSE, services: readonly string[] = []): Plan {
  const folder = makeFolder({ 'compose.yaml': text.replace('API', '1').replace('WORKER', '1') })
  const host = createHost({ env: { T: 'value' } })
  const options = { workingDirectory: folder, domain: 'example.com', namespace: 'ns', includeSecrets: true, services }
  const { plan, diagnostics } = compile(options, host)
  if (!plan) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return plan
}

const namesOf = (plan: Plan, ...services: readonly string[]) =>
  manifestsOf(toManifests(plan), withDependencies(plan, services)).map(({ object }) => nameOf(object as never))

describe('a part of an application', () => {
  test('withDependencies adds dependencies and the services that share Pods', () => {
    const plan = planOf()
    const part = (...names: readonly string[]) => [...withDependencies(plan, names)].sort()
    expect(part('migrate')).toEqual(['migrate'])
    expect(part('api')).toEqual(['api', 'migrate'])
    expect(part('agent')).toEqual(['agent', 'api', 'migrate', 'web'])
    expect(part('web')).toEqual(part('agent'))
    expect(part('worker', 'migrate')).toEqual(['migrate', 'worker'])
  })

  test('a part has the objects that its services use or that lead to them, and no others', () => {
    const plan = planOf()
    const job = toManifests(plan).find(({ object }) => object.kind === 'Job')!.object.metadata.name
    expect(namesOf(plan, 'migrate')).toEqual([`job/${job}`, 'networkpolicy/shop-network-default'])
    const names = namesOf(plan, 'api')
    expect(names).toEqual(
      expect.arrayContaining([
        'secret/shop-token',
        'persistentvolumeclaim/data',
        'service/api',
        'service/backend',
        'statefulset/api',
        'ingress/api',
        'networkpolicy/shop-network-back',
        'serviceaccount/shop-waits-for-migrate',
        'role/shop-waits-for-migrate',
        'rolebinding/shop-waits-for-migrate',
      ]),
    )
    for (const other of [
      'secret/shop-other',
      'persistentvolumeclaim/files',
      'ingress/shop',
      'networkpolicy/shop-network-side',
    ])
      expect(names).not.toContain(other)
    expect(namesOf(plan, 'web')).toEqual(expect.arrayContaining(['ingress/shop', 'ingress/web', 'service/agent']))
  })

  test('the objects of a part are the same as in the whole application', () => {
    const plan = planOf()
    const whole = new Map(toManifests(plan).map(one => [nameOf(one.object as never), JSON.stringify(one.object)]))
    for (const { object } of manifestsOf(toManifests(plan), withDependencies(plan, ['api'])))
      expect(JSON.stringify(object)).toBe(whole.get(nameOf(object as never)))
    expect(whole.get('statefulset/api')).toContain('podAffinity')
  })
})

const clock: Clock = { now: () => 0, every: () => () => {} }
const signal = new AbortController().signal

function inputOf(cluster: MemoryCluster, text: string, ...services: readonly string[]) {
  const whole = planOf(text)
  const part = services.length > 0 ? withDependencies(whole, services) : undefined
  // No workload becomes ready in memory, so that no workload may wait.
  const plan = { ...whole, workloads: whole.workloads.map(({ dependencies: _, ...one }) => one) }
  return {
    cluster,
    plan,
    synth: (plan: Plan) => (part ? manifestsOf(toManifests(plan), part) : toManifests(plan)),
    namespace: 'ns',
    source: { repository: 'shop', file: 'compose.yaml' },
    choices: { ...NO_CHOICES, isPart: part !== undefined },
  }
}

async function deploy(cluster: MemoryCluster, text: string, ...services: readonly string[]) {
  const done: string[] = []
  const events = {
    planned() {},
    locked() {},
    waiting() {},
    status() {},
    applied() {},
    routed() {},
    watching() {},
    done: (action: string, name: string) => void done.push(`${action} ${name}`),
  }
  const holder = { name: 'ann@laptop (1)', isGone: () => false }
  const input = { ...inputOf(cluster, text, ...services), services: undefined, holder, wait: false }
  const { isUpToDate } = await deployEnvironment(input, { clock, events, signal })
  return { done, isUpToDate }
}

const record = async (cluster: MemoryCluster) => (await readRecord(cluster, 'shop', 'ns', {}))!

describe('a deploy of a part', () => {
  test('a deploy of a part changes that part, prunes nothing, and keeps the record', async () => {
    const cluster = new MemoryCluster({ namespace: 'ns' })
    await deploy(cluster, COMPOSE)
    const before = await record(cluster)
    const changed = COMPOSE.replace('nginx:API', 'nginx:2').replace('busybox:WORKER', 'busybox:2')
    expect((await deploy(cluster, changed, 'api')).done).toEqual(['update statefulset/api'])
    const gone = changed.replace(/\n {2}worker:[\s\S]*?(?=\nnetworks:)/, '').replace(/\n {2}- \{path: \/work.*/, '')
    // No other service shares the volume of `api` any more.
    expect((await deploy(cluster, gone, 'web')).done).toEqual(['update statefulset/api', 'update ingress/shop'])
    expect((await record(cluster)).kinds).toEqual(before.kinds)
    expect(
      await cluster.get({ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'worker', namespace: 'ns' }),
    ).toBeDefined()
    expect((await deploy(cluster, gone)).done).toContain('delete statefulset/worker')
  })

  test('a first deploy of a part creates a record, which a deploy of the whole extends', async () => {
    const cluster = new MemoryCluster({ namespace: 'ns' })
    const { done } = await deploy(cluster, COMPOSE, 'migrate')
    expect(done).toEqual(['create networkpolicy/shop-network-default', expect.stringMatching(/^create job\/migrate-/)])
    expect((await record(cluster)).kinds.map(({ kind }) => kind)).toEqual(['Job', 'NetworkPolicy'])
    const { done: rest } = await deploy(cluster, COMPOSE)
    expect(rest.filter(one => one.includes('job/migrate'))).toEqual([])
    expect((await deploy(cluster, COMPOSE)).isUpToDate).toBe(true)
    expect((await deploy(cluster, COMPOSE, 'web', 'worker')).isUpToDate).toBe(true)
  })

  test('deploys of each service, one after the other, equal a deploy of the whole', async () => {
    const cluster = new MemoryCluster({ namespace: 'ns' })
    for (const service of ['worker', 'agent', 'api', 'migrate']) await deploy(cluster, COMPOSE, service)
    expect((await deploy(cluster, COMPOSE)).isUpToDate).toBe(true)
  })

  test('a deploy of a part prunes only the predecessors of its own objects', async () => {
    const cluster = new MemoryCluster({ namespace: 'ns' })
    await deploy(cluster, COMPOSE)
    const changed = COMPOSE.replace('MODE: up', 'MODE: down').replace('volumes: [data:/data, files:/files]', '')
    const { changes } = await planDeploy(inputOf(cluster, changed, 'migrate'), { signal })
    expect(changes.pruneFirst.map(({ kind }) => kind)).toEqual(['Job'])
    expect(changes.prune).toEqual([])
    expect(changes.kept).toEqual([])
  })
})

describe('objectsOfServices', () => {
  const objectsOf = () => toManifests(planOf()).map(({ object }) => object)
  const names = (...services: readonly string[]) => objectsOfServices(objectsOf(), new Set(services)).map(nameOf)

  test('objectsOfServices returns own objects, and shared ones that no other service uses', () => {
    const worker = names('worker')
    for (const own of ['statefulset/worker', 'service/worker', 'secret/shop-other']) expect(worker).toContain(own)
    for (const one of ['persistentvolumeclaim/files', 'networkpolicy/shop-network-side']) expect(worker).toContain(one)
    for (const other of [
      'persistentvolumeclaim/data',
      'secret/shop-token',
      'ingress/shop',
      'networkpolicy/shop-network-default',
    ])
      expect(worker).not.toContain(other)
    expect(names('worker', 'api')).toContain('persistentvolumeclaim/data')
    expect(names('web', 'agent', 'worker')).toContain('ingress/shop')
  })

  test('objectsOfServices returns only the Service of a service in the Pods of another one', () => {
    expect([...leadsOf(objectsOf())]).toEqual([['agent', 'web']])
    expect(names('agent')).toEqual(['service/agent'])
  })

  test('a destroy of a service leaves the rest of the environment and the record', async () => {
    const cluster = new MemoryCluster({ namespace: 'ns' })
    await deploy(cluster, COMPOSE)
    const before = await record(cluster)
    const { deleted, kept } = await destroyEnvironment(
      {
        cluster,
        environment: 'shop',
        namespace: 'ns',
        holder: { name: 'ann@laptop (1)', isGone: () => false },
        volumes: false,
        wait: false,
        select: async found => objectsOfServices(found, new Set(['worker'])),
      },
      { clock, signal, events: { planned() {}, deleted() {}, locked() {} } },
    )
    expect(deleted).toEqual(expect.arrayContaining(['statefulset/worker', 'service/worker', 'secret/shop-other']))
    expect(kept).toEqual(['persistentvolumeclaim/files'])
    expect(await record(cluster)).toMatchObject({ kinds: before.kinds, source: before.source })
    const { done } = await deploy(cluster, COMPOSE)
    expect(done.every(one => one.startsWith('create '))).toBe(true)
    expect(done).toHaveLength(deleted.length)
  })
})

test('a restart writes one annotation, which the next deploy keeps and does not count as a change', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  await deploy(cluster, COMPOSE)
  const done: string[] = []
  const events = {
    locked() {},
    waiting() {},
    status() {},
    applied() {},
    routed() {},
    watching() {},
    done: (_: string, name: string) => void done.push(name),
  }
  const holder = { name: 'ann@laptop (1)', isGone: () => false }
  const where = { cluster, environment: 'shop', namespace: 'ns', holder, wait: false, services: undefined }
  const select = (found: readonly KubeObject[]) => found.filter(({ kind }) => kind !== 'Job')
  const clock: Clock = { now: () => Date.UTC(2026, 0, 1), every: () => () => {} }
  expect(await restartServices({ ...where, select }, { clock, signal, events })).toMatchObject({
    restarted: ['api', 'web', 'worker'],
    failures: [],
  })
  const [set] = await cluster.list({ apiVersion: 'apps/v1', kind: 'StatefulSet', namespace: 'ns' })
  expect(JSON.stringify(set!['spec'])).toContain('"kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:00.000Z"')
  expect((await deploy(cluster, COMPOSE)).isUpToDate).toBe(true)
  await restartServices({ ...where, select }, { clock: { ...clock, now: () => Date.UTC(2026, 0, 2) }, signal, events })
  expect((await deploy(cluster, COMPOSE.replace('nginx:API', 'nginx:2'))).done).toEqual(['update statefulset/api'])
  const after = await cluster.get({ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'api', namespace: 'ns' })
  expect(JSON.stringify(after), 'a deploy does not take it back').toContain('2026-01-02')
})
