import { expect, test } from 'vitest'
import { logEventText } from '../../../../cli/terminal/operation-events.ts'
import type { LogEvent } from '../../../../operations/logs/events.ts'
import { logs } from '../../../../operations/logs/logs.ts'
import { deploy, NAMESPACE, newCluster, wanted, workload } from '../../../support/objects/deploying.ts'
import { operationOn } from '../../../support/objects/environment.ts'

test('`logs` reports at once that a job has no run, and refuses a name that no job has', async () => {
  const cluster = newCluster()
  const spec = { schedule: '@daily', jobTemplate: { spec: { template: {} } } }
  await deploy(cluster, wanted([], [workload('CronJob', 'backup', { spec })]))
  const { world, project, name, events } = await operationOn(cluster)
  const read = (services: RegExp) => logs({ ...world, print: () => {} }, { name, services }, project)
  expect(await read(/back/)).toEqual({ kind: 'ended' })
  expect(events).toEqual([{ type: 'no-run', jobs: [expect.objectContaining({ job: 'backup' })], follows: false }])
  expect(await read(/other/)).toMatchObject({ kind: 'no-match', known: ['backup'] })
})

test('`logs` reports how the last run of a job ended if its Pod no longer exists', async () => {
  const cluster = newCluster()
  const spec = { schedule: '@daily', jobTemplate: { spec: { template: {} } } }
  await deploy(cluster, wanted([], [workload('CronJob', 'backup', { spec })]))
  const { world, project, name, events } = await operationOn(cluster)
  const [owner] = await cluster.list({ apiVersion: 'batch/v1', kind: 'CronJob', namespace: NAMESPACE }, {})
  const { labels, uid = '' } = owner!.metadata
  const run = (suffix: string, status: object) => ({
    ...{ apiVersion: 'batch/v1', kind: 'Job', status },
    metadata: {
      name: `backup-${suffix}`,
      ...{ namespace: NAMESPACE, labels },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'backup', uid, controller: true }],
    },
  })
  const at = (minute: number) => `2026-01-01T00:0${minute}:00Z`
  const ended = (type: string, minute: number) => ({
    startTime: at(minute),
    conditions: [{ type, status: 'True', lastTransitionTime: at(minute + 1) }],
  })
  for (const one of [run('1', ended('Complete', 1)), run('2', ended('Failed', 3))]) {
    await cluster.create(one)
    cluster.act({ ...one, name: one.metadata.name, namespace: NAMESPACE }, object => ({
      ...object,
      status: one.status,
    }))
  }
  await logs({ ...world, print: () => {} }, { name, services: /back/ }, project)
  const [event] = events
  const text = logEventText(event as LogEvent, 'warn')
  expect(text).toBe(
    'the last run of backup, backup-2, ended at 2026-01-01T00:04:00Z and has failed; its Pod and log are gone; `devctl run backup` runs it again',
  )
})
