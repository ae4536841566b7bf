import { expect, test } from 'vitest'
import { jobsText, toRecord } from '../../../../cli/run/jobs.ts'
import { listJobs } from '../../../../environment/status/jobs.ts'
import { jobs } from '../../../../operations/list/jobs.ts'
import { deploy, newCluster, wanted, workload } from '../../../support/objects/deploying.ts'
import { operationOn } from '../../../support/objects/environment.ts'

const NOW = Date.parse('2026-01-02T12:00:00Z')

const labels = (service: string) => ({ 'dev.platform/service': service })
const cronJob = (name: string, spec: object, service = name) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name, uid: `uid-${name}`, labels: labels(service) },
  spec,
})

interface RunFields {
  readonly owner?: readonly [kind: string, name: string]
  readonly manual?: boolean
  readonly status: object
}
const job = (name: string, { owner, manual, status }: RunFields) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {
    name,
    uid: `uid-${name}`,
    ...(owner
      ? { ownerReferences: [{ apiVersion: 'x', kind: owner[0], name: owner[1], uid: `uid-${owner[1]}` }] }
      : { labels: labels(name) }),
    ...(manual && { annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' } }),
  },
  status,
})
const complete = (startTime: string, completionTime: string) => ({
  startTime,
  completionTime,
  conditions: [{ type: 'Complete', status: 'True' }],
})
const failed = (startTime: string, lastTransitionTime: string) => ({
  startTime,
  conditions: [{ type: 'Failed', status: 'True', lastTransitionTime }],
})
const pod = (run: string, exitCode: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${run}-x`, labels: { 'job-name': run } },
  status: { containerStatuses: [{ name: 'main', state: { terminated: { exitCode } } }] },
})

const OBJECTS = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: { 'job-name': 'backup-2-1' } },
    status: { phase: 'Running' },
  },
  cronJob('backup', { schedule: '30 3 * * *', timeZone: 'Europe/Berlin' }),
  cronJob('backup-2', { schedule: '@every 2h' }, 'backup'),
  job('backup-1', {
    owner: ['CronJob', 'backup'],
    status: complete('2026-01-01T02:30:00Z', '2026-01-01T02:30:12Z'),
  }),
  job('backup-run-1', {
    owner: ['CronJob', 'backup'],
    manual: true,
    status: failed('2026-01-02T11:55:00Z', '2026-01-02T11:56:05Z'),
  }),
  pod('backup-run-1', 3),
  job('backup-2-1', {
    owner: ['CronJob', 'backup-2'],
    status: { startTime: '2026-01-02T11:59:00Z', active: 1, ready: 1 },
  }),
  cronJob('import', { schedule: '@yearly', suspend: true }),
  cronJob('report', { schedule: '0 * * * *', suspend: true }),
  job('migrate', { status: complete('2026-01-01T12:00:00Z', '2026-01-01T12:00:02Z') }),
  { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'api', uid: 'uid-api', labels: labels('api') } },
  job('api-run-1', { owner: ['Deployment', 'api'], status: { active: 1 } }),
  { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', uid: 'uid-web', labels: labels('web') } },
]

test('jobs are listed with their schedules, next and last runs, and the runs with status and duration', () => {
  expect(jobsText(listJobs(OBJECTS, NOW), NOW, undefined)).toBe(`\
Job      Trigger                              Next run   Last run  Status
api      devctl run                                      never     waiting
backup   30 3 * * * Europe/Berlin, @every 2h  in 14h     60s ago   running
import   devctl run                                      never
migrate  each deploy                                     24h ago   succeeded
report   0 * * * *                            suspended  never

Job      Run           Started by  Status                  Started  Duration
api      api-run-1     manual      waiting
backup   backup-2-1    schedule    running                 60s ago  1 min 0 s
backup   backup-run-1  manual      failed (exit status 3)  5m ago   1 min 5 s
backup   backup-1      schedule    succeeded               33h ago  12 s
migrate  migrate       deploy      succeeded               24h ago  2.0 s
`)
  expect(jobsText(listJobs(OBJECTS, NOW), NOW, 1)).not.toContain('backup-run-1')
})

test('a job has the earliest of its next runs, and a suspended one has none', () => {
  const [backup] = listJobs(
    [cronJob('backup', { schedule: '0 14 * * *' }), cronJob('backup-2', { schedule: '0 13 * * *' }, 'backup')],
    NOW,
  )
  expect(backup).toEqual({
    job: 'backup',
    trigger: 'schedule',
    schedules: [
      { cron: '0 14 * * *', suspended: false, nextRun: '2026-01-02T14:00:00Z' },
      { cron: '0 13 * * *', suspended: false, nextRun: '2026-01-02T13:00:00Z' },
    ],
    suspended: false,
    nextRun: '2026-01-02T13:00:00Z',
    runs: [],
  })
})

test('the next run of an interval counts from the last time it was due, or from the creation of the CronJob', () => {
  const every = cronJob('every', { schedule: '@every 2h' })
  const metadata = { ...every.metadata, creationTimestamp: '2026-01-02T11:30:00Z' }
  const status = { lastScheduleTime: '2026-01-02T11:45:00Z' }
  expect(listJobs([{ ...every, metadata }], NOW)).toMatchObject([{ nextRun: '2026-01-02T13:30:00Z' }])
  expect(listJobs([{ ...every, metadata, status } as object as typeof every], NOW)).toMatchObject([
    { nextRun: '2026-01-02T13:45:00Z' },
  ])
})

test('a schedule that never comes, and one that devctl does not understand, are no empty cells', () => {
  const found = listJobs([cronJob('a', { schedule: '0 0 30 2 *' }), cronJob('b', { schedule: '@fortnightly' })], NOW)
  expect(found[0]?.schedules).toEqual([{ cron: '0 0 30 2 *', suspended: false, isNever: true }])
  expect(jobsText(found, NOW, 3)).toBe(`\
Job  Trigger       Next run  Last run  Status
a    0 0 30 2 *    never     never
b    @fortnightly  unknown   never
`)
})

test('the JSON of a job has times in RFC 3339 with whole seconds, and durations in seconds', () => {
  const records = listJobs(OBJECTS, NOW).map(toRecord)
  expect(records.find(one => 'job' in one && one.job === 'backup')).toMatchObject({
    nextRun: '2026-01-03T02:30:00Z',
    lastRun: '2026-01-02T11:59:00Z',
    runs: [
      { name: 'backup-2-1', started: '2026-01-02T11:59:00Z', durationSeconds: 60 },
      { name: 'backup-run-1', ended: '2026-01-02T11:56:05Z', durationSeconds: 65, exitStatus: 3 },
      { name: 'backup-1', durationSeconds: 12 },
    ],
  })
  expect(JSON.stringify(records)).not.toMatch(/"duration"|\.000Z/)
})

test('`jobs` lists what is deployed, and refuses a service that is no job and has no runs', async () => {
  const cluster = newCluster()
  const spec = { schedule: '@daily', jobTemplate: { spec: { template: {} } } }
  await deploy(cluster, wanted([], [workload('CronJob', 'backup', { spec }), workload('Deployment', 'web')]))
  const { world, project, name } = await operationOn(cluster)
  const { jobs: all } = await jobs(world, { name }, project)
  expect(all.map(({ job }) => job)).toEqual(['backup'])
  await expect(jobs(world, { name, services: ['web'] }, project)).rejects.toThrow('`web` is not a job, and has no runs')
  await expect(jobs(world, { name, services: ['bakcup'] }, project)).rejects.toThrow('service `bakcup` does not exist')
})
