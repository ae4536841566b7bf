import { expect, test } from 'vitest'
import { type ClusterEvent, events } from '../../../../operations/events/events.ts'
import { deployedImages } from '../../../../operations/list/images.ts'
import { deploy, NAMESPACE, newCluster, object, wanted, workload } from '../../../support/objects/deploying.ts'
import { operationOn } from '../../../support/objects/environment.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`
const WEB = workload('Deployment', 'web', {
  spec: { template: { spec: { containers: [{ name: 'web', image: 'shop/web:1' }] } } },
})

const event = (kind: string, name: string, time: string) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: `${name}.${time}`, namespace: NAMESPACE },
  type: 'Normal',
  reason: 'Started',
  message: 'started',
  lastTimestamp: `2026-01-01T00:00:${time}Z`,
  involvedObject: { kind, name, uid: 'u' },
})

/** Returns the objects of the events that are printed for an environment with one workload. */
async function eventsOf(
  object: ReturnType<typeof workload>,
  all: readonly (readonly [kind: string, name: string, time: string])[],
  others: Parameters<typeof wanted>[0] = [],
) {
  const cluster = newCluster()
  await deploy(cluster, wanted(others, [object]))
  for (const one of all) await cluster.create(event(...one))
  const { world, project, name } = await operationOn(cluster)
  const printed: ClusterEvent[] = []
  await events(world, { name }, project, one => void printed.push(one))
  return printed.map(one => one.object)
}

test('events are those of the environment, also of deleted Pods, oldest first', async () => {
  const printed = await eventsOf(WEB, [
    ['Pod', 'web-7d9f8-x2x4z', '03'],
    ['Deployment', 'web', '01'],
    ['ReplicaSet', 'web-7d9f8', '02'],
    ['Job', 'web-run-0a1b2c3d', '06'],
    ['Pod', 'web-run-0a1b2c3d-x2x4z', '07'],
    ['Pod', 'web-admin-7d9f8-x2x4z', '04'],
    ['Deployment', 'other', '05'],
  ])
  expect(printed).toEqual([
    'deployment/web',
    'replicaset/web-7d9f8',
    'pod/web-7d9f8-x2x4z',
    'job/web-run-0a1b2c3d',
    'pod/web-run-0a1b2c3d-x2x4z',
  ])
})

test('events of a job include those of runs that started later, or are gone', async () => {
  const printed = await eventsOf(workload('CronJob', 'backup', { spec: { schedule: '@daily' } }), [
    ['CronJob', 'backup', '01'],
    ['Job', 'backup-29411730', '02'],
    ['Pod', 'backup-29411730-x2x4z', '03'],
    ['Job', 'backup-run-0a1b2c3d', '04'],
    ['Pod', 'backup-run-0a1b2c3d-x2x4z', '05'],
    ['Job', 'backup-of-2025', '06'],
    ['Pod', 'backup-x2x4z', '07'],
  ])
  expect(printed).toEqual([
    'cronjob/backup',
    'job/backup-29411730',
    'pod/backup-29411730-x2x4z',
    'job/backup-run-0a1b2c3d',
    'pod/backup-run-0a1b2c3d-x2x4z',
  ])
})

const SPEC = { selector: {}, template: {} }
const cronJob = { schedule: '@daily' }
test.each([
  ['Deployment', 47, SPEC, '-7d9f8b5c4dx2x4z', true],
  ['Deployment', 47, SPEC, '-api-8b5c4dx2x4z', false],
  ['Deployment', 52, SPEC, '-7d9f8x2x4z', true],
  ['Deployment', 48, SPEC, '-run-0a1b2x2x4z', true],
  ['CronJob', 50, cronJob, '-2941173x2x4z', true],
  ['CronJob', 50, cronJob, '-294117xx2x4z', false],
])('events of a %s with %i characters include those of its Pods: %j', async (kind, length, spec, end, is) => {
  const name = 'a'.repeat(length)
  const printed = await eventsOf(workload(kind, name, { spec }), [['Pod', `${name}${end}`, '01']])
  expect(printed).toEqual(is ? [`pod/${name}${end}`] : [])
})

test('events include those of runs of a service in the Pods of another service', async () => {
  const member = object('Service', 'agent', { spec: { ports: [{ port: 80 }] } }, 'agent')
  const runs = ['agent-run-0a1b2c3d', 'other-run-0a1b2c3d']
  const printed = await eventsOf(
    WEB,
    [
      ['Job', runs[0]!, '01'],
      ['Job', runs[1]!, '02'],
    ],
    [member],
  )
  expect(printed).toEqual(['job/agent-run-0a1b2c3d'])
})

test('events include those of runs whose names contain only the beginning of the service name', async () => {
  const name = `${'a'.repeat(49)}-${'b'.repeat(5)}`
  const run = `${'a'.repeat(49)}-run-0a1b2c3d`
  const printed = await eventsOf(workload('Deployment', name, { spec: SPEC }), [
    ['Job', run, '01'],
    ['Pod', `${run.slice(0, 58)}x2x4z`, '02'],
    ['Pod', `${'a'.repeat(49)}-bbbb-rx2x4z`, '03'],
  ])
  expect(printed).toEqual([`job/${run}`, `pod/${run.slice(0, 58)}x2x4z`])
})

test('events fails if the user may not read them', async () => {
  const cluster = newCluster()
  await deploy(cluster, wanted([], [WEB]))
  cluster.allows = ({ kind }) => kind !== 'Event'
  const { world, project, name } = await operationOn(cluster)
  await expect(events(world, { name }, project, () => {})).rejects.toMatchObject({ failure: 'forbidden' })
})

test('images have the digests that the Pods run', async () => {
  const cluster = newCluster()
  await deploy(cluster, wanted([], [WEB]))
  const { world, project, name } = await operationOn(cluster)
  const row = { service: 'web', container: 'web', image: 'shop/web:1' }
  expect(await deployedImages(world, { name }, project)).toEqual([{ ...row, digests: [] }])
  const pod = object('Pod', 'web-1', { spec: { containers: [{ name: 'web', image: 'shop/web:1' }] } }, 'web')
  const status = { phase: 'Running', containerStatuses: [{ name: 'web', imageID: `docker.io/shop/web@${DIGEST}` }] }
  await cluster.create({ ...pod, status })
  cluster.act({ apiVersion: 'v1', kind: 'Pod', name: 'web-1', namespace: NAMESPACE }, live => ({ ...live, status }))
  expect(await deployedImages(world, { name }, project)).toEqual([{ ...row, digests: [DIGEST] }])
})

test('images has a row for a job, however many schedules it has', async () => {
  const cluster = newCluster()
  const pod = { spec: { containers: [{ name: 'backup', image: 'shop/backup:1' }] } }
  const cronJob = (name: string) =>
    workload('CronJob', name, { spec: { schedule: '@daily', jobTemplate: { spec: { template: pod } } } })
  await deploy(cluster, wanted([], [cronJob('backup'), cronJob('backup-2')]))
  const { world, project, name } = await operationOn(cluster)
  const row = { service: 'backup', container: 'backup', image: 'shop/backup:1', digests: [] }
  expect(await deployedImages(world, { name }, project)).toEqual([row])
})
