import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import type { Plan, WorkloadPlan } from '../../../../compiler/plan/plan.ts'
import { leftBehind } from '../../../../operations/deploy/left-behind.ts'
import { NAMESPACE, newCluster, object } from '../../../support/objects/deploying.ts'

const [OLD, NEW] = ['example.com/app:1@sha256:old', 'example.com/app:1@sha256:new']

/** Returns a workload with only the parts of a plan that the code reads. */
const workload = (service: string, image: string, kind = 'Deployment') =>
  ({ kind, name: service, service, pod: { containers: [{ image }], init: [] } }) as unknown as WorkloadPlan

const running = (name: string, image: string): KubeObject =>
  object('Deployment', name, { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } })

test('leftBehind names services with an older image of a service that is deployed alone', async () => {
  const cluster = newCluster()
  await cluster.create(running('api', NEW))
  await cluster.create(running('worker', OLD))
  await cluster.create(running('current', NEW))
  await cluster.create(running('other', OLD))
  const workloads = [
    workload('api', NEW),
    workload('worker', NEW),
    workload('current', NEW),
    workload('absent', NEW),
    workload('migrate', NEW, 'Job'),
    workload('other', 'example.com/other:1'),
  ]
  const plan = { workloads } as unknown as Plan
  const { signal } = new AbortController()
  const found = (named: readonly string[] | undefined, built = new Map([['api', NEW]])) => {
    const part = named && { part: { named, services: new Set(named) } }
    return leftBehind({ cluster, namespace: NAMESPACE }, { plan, built, ...part }, signal)
  }
  expect(await found(['api'])).toEqual([{ service: 'worker', with: 'api' }])
  expect(await found(['api', 'worker'])).toEqual([])
  expect(await found(['other'])).toEqual([])
  expect(await found(undefined)).toEqual([])
  expect(await found(['api'], new Map()), 'nothing was built').toEqual([])
})

test('leftBehind sees containers that start before the others of their Pod', async () => {
  const cluster = newCluster()
  const init = (image: string) => [{ name: 'proxy', image, restartPolicy: 'Always' }]
  const live = (name: string, image: string) =>
    object('Deployment', name, { spec: { template: { spec: { containers: [], initContainers: init(image) } } } })
  await cluster.create(live('worker', OLD))
  await cluster.create(live('current', NEW))
  const sidecar = (service: string) =>
    ({
      kind: 'Deployment',
      name: service,
      service,
      pod: { containers: [], init: [{ image: NEW, sidecar: true }] },
    }) as unknown as WorkloadPlan
  const plan = { workloads: ['api', 'worker', 'current'].map(sidecar) } as unknown as Plan
  const part = { named: ['api'], services: new Set(['api']) }
  const input = { plan, built: new Map([['api', NEW]]), part }
  expect(await leftBehind({ cluster, namespace: NAMESPACE }, input, new AbortController().signal)).toEqual([
    { service: 'worker', with: 'api' },
  ])
})
