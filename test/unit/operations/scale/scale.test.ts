import { beforeEach, describe, expect, test } from 'vitest'
import { findContainer } from '../../../../containers/workloads/find-container.ts'
import type { DesiredWorkload } from '../../../../environment/plan/desired-state.ts'
import { findForwardTarget } from '../../../../environment/status/forward-target.ts'
import { services } from '../../../../operations/list/services.ts'
import { parseScales } from '../../../../operations/scale/parse-scales.ts'
import { scale } from '../../../../operations/scale/scale.ts'
import { start, stop } from '../../../../operations/scale/stop.ts'
import { wait } from '../../../../operations/wait/wait.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import { deploy, NAMESPACE, newCluster, object, ref, wanted, workload } from '../../../support/objects/deploying.ts'
import { operationOn } from '../../../support/objects/environment.ts'

/** Workload as the compiler writes it for a service without `scale`: it has no number of replicas. */
const WEB = workload('Deployment', 'web', { spec: { template: {} } })
const WORKER = workload('Deployment', 'worker', { spec: { replicas: 2 } })
const DB = workload('StatefulSet', 'db', {
  spec: { replicas: 1, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' } },
})
const AGENT = workload('DaemonSet', 'agent', { spec: {} })
const MIGRATE = workload('Job', 'migrate', { spec: {} })
const ALL = [WEB, WORKER, DB, AGENT, MIGRATE]

let cluster: MemoryCluster
beforeEach(async () => {
  cluster = newCluster()
  await deploy(cluster, wanted([], ALL))
})

const specOf = async ({ object: of }: DesiredWorkload) =>
  (await cluster.get(ref(of)))!['spec'] as Record<string, unknown>
const replicasOf = async (of: DesiredWorkload) => (await specOf(of))['replicas'] ?? 1

async function scaled(...words: readonly string[]) {
  const { world, project, name } = await operationOn(cluster)
  return scale(world, { name, replicas: parseScales(words, 'devctl scale') }, project)
}
async function stopped(verb: typeof stop, ...services: readonly string[]) {
  const { world, project, name } = await operationOn(cluster)
  return verb(world, { name, services }, project)
}

test('stop suspends each CronJob of a job, start resumes them, and a manual job stays suspended', async () => {
  const cron = (name: string, suspend?: true) => workload('CronJob', name, { spec: { schedule: '@daily', suspend } })
  const all = [cron('backup'), cron('backup-2'), cron('import', true)]
  await deploy(cluster, wanted([], [...ALL, ...all]))
  const suspended = async () => Promise.all(all.map(async one => (await specOf(one))['suspend'] ?? false))
  expect((await stopped(stop, 'backup')).changed).toEqual(['backup'])
  expect(await suspended()).toEqual([true, true, true])
  expect((await stopped(start)).changed).toEqual(['backup'])
  expect(await suspended()).toEqual([false, false, true])
})

test('stop and start leave jobs without a schedule alone, and refuse to change one that is named', async () => {
  const cron = (name: string, spec: object) => workload('CronJob', name, { spec })
  const jobs = [cron('backup', { schedule: '@daily' }), cron('report', { schedule: '@yearly', suspend: true })]
  await deploy(cluster, wanted([], [WEB, ...jobs]))
  expect(await stopped(stop)).toMatchObject({ changed: ['backup', 'web'], unchanged: [], jobs: ['backup'] })
  expect(await stopped(start)).toMatchObject({ changed: ['backup', 'web'], unchanged: [], jobs: ['backup'] })
  const message = '`report` is a job without a schedule, which only users start'
  await expect(stopped(stop, 'report')).rejects.toMatchObject({ message, hint: '`devctl jobs report` lists its runs' })
  await expect(stopped(start, 'report')).rejects.toMatchObject({ message, hint: '`devctl run report` runs it' })
})

test('an environment that has only jobs is not one that is not deployed', async () => {
  const jobs = newCluster()
  await deploy(jobs, wanted([], [workload('CronJob', 'backup', { spec: { schedule: '@daily' } })]))
  const { world, project, name } = await operationOn(jobs)
  expect(await services(world, { name }, project)).toMatchObject({ services: [], onlyJobs: ['backup'] })
})

test('stop ends and deletes a run that is named, and nothing else', async () => {
  await deploy(cluster, wanted([], [WEB]))
  const { uid = '', labels } = (await cluster.get(ref(WEB.object)))!.metadata
  const run = (name: string) => ({
    ...{ apiVersion: 'batch/v1', kind: 'Job' },
    metadata: {
      ...{ name, namespace: NAMESPACE, labels },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid }],
    },
    spec: { template: {} },
  })
  await cluster.create(run('web-run-1'))
  await cluster.create(run('web-run-2'))
  expect(await stopped(stop, 'web-run-1')).toMatchObject({ ended: ['web-run-1'], changed: [], unchanged: [] })
  expect(await cluster.get(ref(run('web-run-1')))).toBeUndefined()
  expect(await cluster.get(ref(run('web-run-2')))).toBeDefined()
  expect(await replicasOf(WEB)).toBe(1)
  await expect(stopped(stop, 'web-run-2', 'nothing')).rejects.toThrow('nothing')
  expect(await cluster.get(ref(run('web-run-2'))), 'a wrong name ends no run').toBeDefined()
  await expect(stopped(start, 'web-run-2')).rejects.toThrow('`web-run-2` is a run, which starts once')
  cluster.act(ref(run('web-run-2')), object => ({
    ...object,
    status: { conditions: [{ type: 'Complete', status: 'True' }] },
  }))
  await expect(stopped(stop, 'web-run-2')).rejects.toThrow('the run `web-run-2` has ended already')
})

test('a job that does not run now gets hints that fit a job', async () => {
  await deploy(cluster, wanted([], [WEB, workload('CronJob', 'backup', { spec: { schedule: '@daily' } })]))
  const { world, project, name } = await operationOn(cluster)
  const fits = { hint: expect.stringMatching(/devctl run backup/), message: expect.stringMatching(/`backup` is a job/) }
  await expect(findContainer(world, { name, service: 'backup' }, project)).rejects.toMatchObject(fits)
  await expect(services(world, { name, services: ['backup'] }, project)).rejects.toMatchObject(fits)
  const target = { environment: name, namespace: NAMESPACE, service: 'backup', port: 80 }
  await expect(findForwardTarget(cluster, target, new AbortController().signal)).rejects.toMatchObject(fits)
})

describe('scale', () => {
  test('scale sets the number of replicas until the next deploy', async () => {
    const { scaled: rows } = await scaled('web=3', 'worker=0')
    expect(rows).toEqual([
      { service: 'web', before: 1, after: 3 },
      { service: 'worker', before: 2, after: 0 },
    ])
    expect([await replicasOf(WEB), await replicasOf(WORKER)]).toEqual([3, 0])
    await scaled('web=4')
    expect(await deploy(cluster, wanted([], ALL))).toEqual(['update deployment/web', 'update deployment/worker'])
    expect([await replicasOf(WEB), await replicasOf(WORKER)]).toEqual([1, 2])
    expect(await deploy(cluster, wanted([], ALL))).toEqual([])
  })

  test('scale back to the number before leaves nothing to deploy', async () => {
    await scaled('web=3')
    await scaled('web=1')
    expect(await deploy(cluster, wanted([], ALL))).toEqual([])
  })

  test.each([
    ['migrate', '`migrate` is a Job, which runs to its end'],
    ['agent', '`agent` is a DaemonSet, which has one Pod on each node'],
    ['nothing', 'service `nothing` does not exist in shop'],
  ])('scale refuses %s and changes nothing', async (service, message) => {
    await expect(scaled('web=3', `${service}=2`)).rejects.toThrow(message)
    expect(await replicasOf(WEB)).toBe(1)
  })

  test('scale refuses a service with an autoscaler', async () => {
    await cluster.create({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'by-hand', namespace: NAMESPACE },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 },
    })
    await expect(scaled('web=3')).rejects.toThrow('an autoscaler sets the replicas of `web`')
  })

  test('scale refuses a service in the Pods of another one', async () => {
    const side = object('Service', 'side', { spec: { selector: { 'dev.platform/service': 'web' } } }, 'side')
    await cluster.create(side)
    await expect(scaled('side=3')).rejects.toThrow('`side` runs in the Pods of `web`')
  })

  test.each(['web', 'web=', 'web=-1', 'web=1.5', '=3', 'web=1001'])('scale refuses the argument `%s`', word => {
    expect(() => parseScales([word], 'devctl scale')).toThrow(word)
  })

  test('scale reports a failing cluster', async () => {
    cluster.allows = ({ verb, dryRun }) => verb !== 'patch' || dryRun === true
    await expect(scaled('web=3')).rejects.toMatchObject({ failure: 'forbidden' })
  })
})

describe('stop and start', () => {
  test('stop stops all services but Jobs and DaemonSets, and start restores the numbers', async () => {
    expect(await stopped(stop)).toMatchObject({ changed: ['db', 'web', 'worker'], skipped: ['agent', 'migrate'] })
    expect([await replicasOf(WEB), await replicasOf(WORKER), await replicasOf(DB)]).toEqual([0, 0, 0])
    expect(await stopped(stop, 'web')).toMatchObject({ changed: [], unchanged: ['web'] })
    expect(await stopped(start)).toMatchObject({ changed: ['db', 'web', 'worker'] })
    expect([await replicasOf(WEB), await replicasOf(WORKER), await replicasOf(DB)]).toEqual([1, 2, 1])
    expect(await deploy(cluster, wanted([], ALL))).toEqual([])
  })

  test('start restores the number of `scale`, and the next deploy that of the files', async () => {
    await scaled('web=3')
    await stopped(stop, 'web')
    await stopped(start, 'web')
    expect(await replicasOf(WEB)).toBe(3)
    await deploy(cluster, wanted([], ALL))
    expect(await replicasOf(WEB)).toBe(1)
  })

  test('stop remembers the number of replicas of a service that has none by its files', async () => {
    const none = wanted([], [workload('Deployment', 'web', { spec: { replicas: 0 } })])
    await deploy(cluster, none)
    await scaled('web=3')
    await stopped(stop, 'web')
    await stopped(start, 'web')
    expect(await replicasOf(WEB)).toBe(3)
    await stopped(stop, 'web')
    expect(await deploy(cluster, none)).toEqual([])
    expect(await replicasOf(WEB)).toBe(0)
    cluster.act(ref(WEB.object), live => ({ ...live, status: { observedGeneration: live.metadata.generation } }))
    const { world, project, name } = await operationOn(cluster)
    expect((await wait(world, { name, services: ['web'] }, project)).services, 'it has what it needs').toEqual(['web'])
  })

  test('stop keeps the claims of replicas that are scaled away', async () => {
    const policy = async () => (await specOf(DB))['persistentVolumeClaimRetentionPolicy']
    await stopped(stop, 'db')
    expect(await policy()).toEqual({ whenDeleted: 'Retain', whenScaled: 'Retain' })
    await stopped(start, 'db')
    expect(await policy()).toEqual({ whenDeleted: 'Retain', whenScaled: 'Delete' })
  })

  test('the next deploy starts a stopped service with the number that it had', async () => {
    await scaled('web=3')
    await stopped(stop, 'web', 'worker')
    await deploy(cluster, wanted([], ALL))
    expect([await replicasOf(WEB), await replicasOf(WORKER)]).toEqual([1, 2])
    // The record of the stop is out of date now.
    await expect(stopped(start, 'web')).resolves.toMatchObject({ changed: [], unchanged: ['web'] })
  })

  test('start refuses a named service that has no replicas by its files', async () => {
    await deploy(cluster, wanted([], [WEB, workload('Deployment', 'worker', { spec: { replicas: 0 } })]))
    await expect(stopped(start, 'worker')).rejects.toThrow('`worker` was not stopped by devctl')
    expect(await stopped(start)).toMatchObject({ changed: [], unchanged: ['web', 'worker'] })
  })

  test.each([
    ['migrate', '`migrate` is a Job'],
    ['agent', '`agent` is a DaemonSet'],
  ])('stop refuses %s by name', async (service, message) => {
    await expect(stopped(stop, service)).rejects.toThrow(message)
  })

  test('stop refuses a service that `devctl up` has taken', async () => {
    cluster.act(ref(WEB.object), live => ({
      ...live,
      metadata: { ...live.metadata, annotations: { 'dev.platform/up': '{}' } },
    }))
    await expect(stopped(stop, 'web')).rejects.toThrow('`web` is in development')
  })

  test('stop reports that nothing is deployed', async () => {
    cluster = new MemoryCluster({ namespace: NAMESPACE })
    await expect(stopped(stop)).rejects.toThrow('shop is not deployed in ns')
  })
})

test('wait fails at once for services that were stopped', async () => {
  await stopped(stop, 'web', 'worker')
  const { world, project, name } = await operationOn(cluster)
  await expect(wait(world, { name }, project)).rejects.toMatchObject({
    message: '`web`, `worker` are stopped',
    hint: '`devctl start web worker` starts them',
  })
  await expect(wait(world, { name, services: ['web'] }, project)).rejects.toThrow('`web` is stopped')
})

test('wait names a job with several schedules once', async () => {
  const cron = (name: string) => workload('CronJob', name, { spec: { schedule: '@daily' } })
  await deploy(cluster, wanted([], [WEB, cron('backup'), cron('backup-2')]))
  const { world, project, name } = await operationOn(cluster)
  const services = ['backup']
  expect((await wait(world, { name, services }, project)).services).toEqual(['backup'])
  await stopped(stop, 'backup')
  await expect(wait(world, { name, services }, project)).rejects.toMatchObject({
    message: '`backup` is stopped',
    hint: '`devctl start backup` starts it',
  })
})
