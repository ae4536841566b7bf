import { expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { statesText } from '../../../cli/terminal/service-states-text.ts'
import type { Plan } from '../../../compiler/plan/plan.ts'
import type { DesiredWorkload } from '../../../environment/plan/desired-state.ts'
import { ServiceStates } from '../../../operations/deploy/service-states.ts'
import type { MemoryCluster } from '../../support/memory-cluster/memory-cluster.ts'
import { deploy, newCluster, plan, ref, wanted, workload } from '../../support/objects/deploying.ts'
import { FakeClock, settle } from '../../support/objects/fake-clock.ts'

const template = (image: string) => ({
  spec: { containers: [{ name: 'app', image, readinessProbe: { exec: { command: ['true'] } } }] },
})

/** Returns a service on every node, two without Pods, one that never changes, one that does, and a Job. */
const workloads = (image = 'app:1'): readonly DesiredWorkload[] => [
  workload('DaemonSet', 'agent', { spec: { template: template('agent') } }),
  workload('Deployment', 'off', { spec: { replicas: 0, template: template('off') } }),
  workload('StatefulSet', 'off-too', { spec: { replicas: 0, template: template('off') } }),
  workload('StatefulSet', 'old', { spec: { replicas: 1, template: template('old') } }),
  workload('Job', 'migrate', { spec: { template: template('job') } }),
  workload('Deployment', 'web', { spec: { replicas: 1, template: template(image) } }),
]

const one = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }
const STATUSES: Readonly<Record<string, object>> = {
  agent: { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2, numberAvailable: 2 },
  off: { replicas: 0 },
  'off-too': { replicas: 0 },
  old: one,
  migrate: { succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] },
  web: one,
}

async function setStatus(cluster: MemoryCluster, of: KubeObject, status: object): Promise<void> {
  const generation = (await cluster.get(ref(of)))?.metadata.generation
  cluster.act(ref(of), live => ({ ...live, status: { observedGeneration: generation, ...status } }))
  await settle()
}

/**
 * Deploys with `--wait`, and returns the last line about the services; those in `late` are not ready within a minute.
 */
async function counted(
  cluster: MemoryCluster,
  of: readonly DesiredWorkload[],
  late: Readonly<Record<string, object>> = {},
) {
  const clock = new FakeClock()
  const all = of.map(({ service }) => ({ service, pod: { services: [service] } }))
  const outcome = new ServiceStates({ workloads: all } as unknown as Plan) // only the fields that it reads
  outcome.events.planned(await plan(cluster, wanted([], of)), wanted([], of))
  let isOver = false
  const { applied, status } = outcome.events
  const deploying = deploy(cluster, wanted([], of), { wait: true }, clock, { applied, status })
    .catch(() => {})
    .finally(() => {
      isOver = true
    })
  await settle()
  for (const { service, object } of of) await setStatus(cluster, object, late[service] ?? STATUSES[service]!)
  await clock.pass(60_000)
  const text = statesText(outcome.services(), true)
  for (const { service, object } of of) await setStatus(cluster, object, STATUSES[service]!)
  await clock.pass(60_000)
  await deploying
  return { text, isOver, services: [...outcome.services().keys()] }
}

test('every service is counted once, also without Pods, unchanged or as a Job that has run', async () => {
  const cluster = newCluster()
  const names = 'agent, off, off-too, old, migrate, web'
  const first = await counted(cluster, workloads())
  expect(first).toEqual({ text: `${names} are ready`, isOver: true, services: names.split(', ') })
  const unchanged = await counted(cluster, workloads())
  expect(unchanged.text).toBe(`${names} are ready`)
  const changed = await counted(cluster, workloads('app:2'))
  expect(changed.text).toBe(`${names} are ready`)
})

test('a service that is not ready is counted as that, also if it was not changed', async () => {
  const cluster = newCluster()
  await counted(cluster, workloads())
  const behind = { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 1, numberAvailable: 1 }
  const gone = { replicas: 1, updatedReplicas: 1, readyReplicas: 0, availableReplicas: 0 }
  const { text } = await counted(cluster, workloads('app:2'), { agent: behind, old: gone })
  expect(text).toBe('off, off-too, migrate, web are ready; agent, old are not ready')
})

test('a service of no Pods is not ready as long as it has some', async () => {
  const still = { replicas: 1, updatedReplicas: 0, readyReplicas: 1, availableReplicas: 1 }
  const { text } = await counted(newCluster(), workloads(), { off: still })
  expect(text).toBe('agent, off-too, old, migrate, web are ready; off is not ready')
})
