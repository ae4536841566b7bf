import { expect, test } from 'vitest'
import { type ObservedEnvironment, toDetails } from '../../../../../platform/server/live/view.ts'
import { shownJobs } from '../../../../../platform/server/live/view-jobs.ts'

const service = (name: string, kind: string) => ({ service: name, kind, needs: [], endpoints: [], keys: {} })

test('a job without a run is no missing service, so it does not keep an environment from being ready', () => {
  const overview = {
    ...{ service: 'web', kind: 'Deployment', workload: 'deployment/web', state: 'ready', ready: 1, wanted: 1 },
    ...{ restarts: 0, since: undefined, image: 'x', addresses: [], exposed: [], internal: [] },
  }
  const noted = { services: [service('web', 'Deployment'), service('backup', 'CronJob')] }
  // The function reads no other fields.
  const observed = { noted, seen: [{ overview }], jobs: [], isCut: false } as unknown as ObservedEnvironment
  const { state, services } = toDetails('team', { name: 'shop' }, observed, () => [])
  expect(services.map(({ name }) => name)).toEqual(['web'])
  expect(state).toBe('ready')
})

const NOW = Date.parse('2026-01-02T12:00:00Z')
const cronJob = (name: string, spec: object, status: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name, uid: `uid-${name}`, labels: { 'dev.platform/service': name } },
  spec,
  status,
})
const runOf = (owner: string, status: object) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: `${owner}-1`, ownerReferences: [{ apiVersion: 'x', kind: 'x', name: owner, uid: `uid-${owner}` }] },
  status,
})
const FAILED = {
  startTime: '2026-01-02T03:30:00Z',
  conditions: [{ type: 'Failed', status: 'True', lastTransitionTime: '2026-01-02T03:30:09Z' }],
}

test('a job is shown with its schedules, its next run and its last run, and a run of a service is not', () => {
  const exited = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: { 'job-name': 'backup-1' } },
    status: { containerStatuses: [{ name: 'backup', state: { terminated: { exitCode: 3 } } }] },
  }
  const objects = [
    cronJob('backup', { schedule: '30 3 * * *', timeZone: 'Europe/Berlin' }),
    runOf('backup', FAILED),
    exited,
    cronJob('import', { schedule: '@yearly', suspend: true }),
    cronJob('paused', { schedule: '@daily', suspend: true }, { lastScheduleTime: '2026-01-01T00:00:00Z' }),
    { ...cronJob('web', {}), apiVersion: 'apps/v1', kind: 'Deployment' },
    runOf('web', FAILED),
  ]
  const [started, ended] = ['2026-01-02T03:30:00Z', '2026-01-02T03:30:09Z']
  expect(shownJobs(objects, NOW)).toEqual([
    {
      name: 'backup',
      schedules: [{ cron: '30 3 * * *', timeZone: 'Europe/Berlin' }],
      nextRun: '2026-01-03T02:30:00Z',
      lastRun: { state: 'failed', started, ended, exitStatus: 3 },
    },
    { name: 'import', schedules: [] },
    // The run itself has been deleted.
    {
      name: 'paused',
      schedules: [{ cron: '@daily' }],
      isSuspended: true,
      lastRun: { started: '2026-01-01T00:00:00Z' },
    },
  ])
})

test('jobs are limited in number, and a run that waits is the last one', () => {
  const many = Array.from({ length: 300 }, (_, index) => cronJob(`job-${index}`, { schedule: '* * * * *' }))
  const shown = shownJobs([...many, runOf('job-0', {})], NOW)
  expect(shown).toHaveLength(100)
  expect(shown.find(({ name }) => name === 'job-0')?.lastRun).toEqual({ state: 'waiting' })
})

test('a failed run is part of an environment, but does not make it fail', () => {
  const jobs = shownJobs([cronJob('backup', { schedule: '@daily' }), runOf('backup', FAILED)], NOW)
  const details = (state: string) => {
    const overview = { service: 'web', state, addresses: [], exposed: [], internal: [] }
    const observed = { noted: { services: [] }, seen: state === '' ? [] : [{ overview }], jobs, isCut: false }
    // The function reads no other fields.
    return toDetails('team', { name: 'shop' }, observed as unknown as ObservedEnvironment, () => [])
  }
  expect(details('ready')).toMatchObject({ state: 'ready', jobs: [{ lastRun: { state: 'failed' } }] })
  expect(details('waiting').state).toBe('waiting')
  // An environment that has only jobs is not empty.
  expect(details('').state).toBe('ready')
})
