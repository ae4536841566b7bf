import { expect, test } from 'vitest'
import { logs } from '../../../../operations/logs/logs.ts'
import { deploy, newCluster, wanted, workload } from '../../../support/objects/deploying.ts'
import { operationOn } from '../../../support/objects/environment.ts'

test('`logs` reports at once that a job has no run, and refuses a name that no job has', async () => {
  const cluster = newCluster()
  const spec = { schedule: '@daily', jobTemplate: { spec: { template: {} } } }
  await deploy(cluster, wanted([], [workload('CronJob', 'backup', { spec })]))
  const { world, project, name, events } = await operationOn(cluster)
  const read = (services: RegExp) => logs({ ...world, print: () => {} }, { name, services }, project)
  expect(await read(/back/)).toEqual({ kind: 'ended' })
  expect(events).toEqual([{ type: 'no-run', jobs: ['backup'], follows: false }])
  expect(await read(/other/)).toMatchObject({ kind: 'no-match', known: ['backup'] })
})
