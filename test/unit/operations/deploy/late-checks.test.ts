import { expect, test } from 'vitest'
import type { OperationEvent } from '../../../../api/events.ts'
import type { DesiredWorkload } from '../../../../environment/plan/desired-state.ts'
import { deployEvents } from '../../../../operations/deploy/progress.ts'
import { ServiceStates } from '../../../../operations/deploy/service-states.ts'
import { deploy, newCluster, plan, wanted, workload } from '../../../support/objects/deploying.ts'

const MINUTES = 60_000

const checkedAfter = (seconds: number, name: string, dependencies: DesiredWorkload['dependencies'] = []) => {
  const containers = [{ name, readinessProbe: { initialDelaySeconds: seconds } }]
  return workload('Deployment', name, { spec: { replicas: 1, template: { spec: { containers } } } }, dependencies)
}

/** Returns the notes of a deploy that ends in five minutes. */
async function notesOf(workloads: readonly DesiredWorkload[], waits: boolean, cluster = newCluster()) {
  const told: OperationEvent[] = []
  const what = wanted([], workloads)
  const states = new ServiceStates({ workloads: [] })
  const timing = { now: () => 1000, waits, deadline: 1000 + 5 * MINUTES }
  deployEvents(
    one => told.push(one),
    states,
    () => {},
    timing,
  ).planned(await plan(cluster, what), what)
  return told.flatMap(one => (one.type === 'note' ? [one.text] : []))
}

test('a deploy that ends before the first health check of a service says so at the start', async () => {
  expect(await notesOf([checkedAfter(600, 'web'), checkedAfter(299, 'api')], true)).toEqual([
    'the first health check of web comes 10 min 0 s after its start, and this deploy ends in 5 min 0 s: wait longer with `--timeout`, or shorten `healthcheck.start_period`',
  ])
})

test('a late health check counts only for services that the deploy waits for', async () => {
  const db = checkedAfter(600, 'db')
  const needing = (condition: 'service_started' | 'service_healthy') =>
    workload('Deployment', 'web', undefined, [{ service: 'db', condition }])
  expect(await notesOf([db, needing('service_started')], false)).toEqual([])
  expect(await notesOf([db, needing('service_healthy')], false)).toHaveLength(1)
})

test('an unchanged service gets no note about its health check', async () => {
  const cluster = newCluster()
  const web = checkedAfter(600, 'web')
  await deploy(cluster, wanted([], [web]))
  expect(await notesOf([web], true, cluster)).toEqual([])
})
