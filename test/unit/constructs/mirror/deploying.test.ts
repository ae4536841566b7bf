import { describe, expect, test } from 'vitest'
import type { OperationEvent } from '../../../../api/events.ts'
import { replaceWorkload } from '../../../../develop/mirror/replace-workload.ts'
import { restoreWorkload } from '../../../../develop/mirror/restore-workload.ts'
import { destroyEnvironment } from '../../../../environment/apply/destroy.ts'
import { restartServices } from '../../../../environment/apply/restart.ts'
import { overviewOf } from '../../../../environment/status/overview.ts'
import type { Session } from '../../../../project/session.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import { AGENT, settings } from '../../../support/mirror/settings.ts'
import {
  actions,
  deploy,
  ENVIRONMENT,
  holder,
  NAMESPACE,
  never,
  newCluster,
  plan,
  wanted,
  workload,
} from '../../../support/objects/deploying.ts'
import { FakeClock, settle } from '../../../support/objects/fake-clock.ts'

// Behavior of deploy, diff, ps, restart and destroy while a mirror stands in for a workload.

const pod = (image: string) => ({
  metadata: { labels: { app: 'api' } },
  spec: { containers: [{ name: 'api', image }] },
})
const api = (replicas: number | undefined, image = 'api:1') =>
  wanted(
    [],
    [
      workload('Deployment', 'api', {
        spec: {
          ...(replicas !== undefined && { replicas }),
          selector: { matchLabels: { app: 'api' } },
          template: pod(image),
        },
      }),
    ],
  )
const API = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api', namespace: NAMESPACE }
const MIRROR = { ...API, name: 'api-dev' }
const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: 'api-dev', namespace: NAMESPACE }

// The code under test reads only these fields.
const sessionOf = (cluster: MemoryCluster): Session =>
  ({ cluster, namespace: NAMESPACE, signal: never, clock: new FakeClock(), holder: holder() }) as unknown as Session

async function up(replicas: number | undefined = 2) {
  const cluster = newCluster()
  await deploy(cluster, api(replicas))
  const volume = { ...settings().volume, storageClass: 'fast' }
  const taken = await replaceWorkload(
    sessionOf(cluster),
    {
      original: API,
      settings: settings({ volume }),
      agent: AGENT,
      facts: { agentImage: 'node', toolsImage: 'busybox', runs: 'hold', files: [] },
      session: () => ({}),
      takeOver: false,
      dryRun: false,
    },
    () => {},
  )
  if (taken.kind === 'taken') await taken.release()
  const replicasNow = async () => ((await cluster.get(API))?.['spec'] as { replicas?: number } | undefined)?.replicas
  const down = async (volumes = false) => {
    const told: OperationEvent[] = []
    await restoreWorkload(sessionOf(cluster), { name: 'api' }, { volumes }, event => told.push(event))
    return told
  }
  return { cluster, replicasNow, down }
}

describe('a mirror that stands in for a workload', () => {
  test('a deploy of the same objects changes nothing and prunes nothing', async () => {
    const { cluster, replicasNow } = await up()
    expect(actions(await plan(cluster, api(2)))).toEqual(['unchanged deployment/api'])
    expect(await deploy(cluster, api(2))).toEqual([])
    expect(await replicasNow()).toBe(0)
    expect(await cluster.get(MIRROR)).toBeDefined()
  })

  test('a deploy with another number of Pods changes what `down` restores', async () => {
    const { cluster, replicasNow, down } = await up()
    const [step] = (await plan(cluster, api(3))).steps.values()
    expect(step).toMatchObject({ action: 'update', differences: [{ keys: ['spec', 'replicas'], before: 2, after: 3 }] })
    expect(await deploy(cluster, api(3))).toEqual(['update deployment/api'])
    expect(await replicasNow()).toBe(0)
    expect(actions(await plan(cluster, api(3)))).toEqual(['unchanged deployment/api'])
    await down()
    expect(await replicasNow()).toBe(3)
    expect(actions(await plan(cluster, api(3)))).toEqual(['unchanged deployment/api'])
  })

  test('a deploy with another image changes the workload, and leaves it without Pods', async () => {
    const { cluster, replicasNow, down } = await up()
    expect(await deploy(cluster, api(2, 'api:2'))).toEqual(['update deployment/api'])
    expect(await replicasNow()).toBe(0)
    expect(JSON.stringify(await cluster.get(API))).toContain('api:2')
    await down()
    expect(await replicasNow()).toBe(2)
    expect(actions(await plan(cluster, api(2, 'api:2')))).toEqual(['unchanged deployment/api'])
  })

  test('a deploy that waits for the workload waits for the mirror, and shows its status', async () => {
    const { cluster } = await up()
    const seen = { observedGeneration: 99, conditions: [] }
    cluster.act(API, live => ({ ...live, status: seen }))
    cluster.act(MIRROR, live => ({ ...live, status: seen }))
    const texts: string[] = []
    let isOver = false
    const deploying = deploy(cluster, api(2, 'api:2'), { wait: true }, new FakeClock(), {
      status: (_, { text }) => texts.push(text),
    }).then(() => {
      isOver = true
    })
    await settle()
    expect([isOver, texts.at(-1)]).toEqual([false, 'development container 0/1 ready'])
    const ready = { ...seen, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 }
    cluster.act(MIRROR, live => ({ ...live, status: ready }))
    await deploying
    expect(texts.at(-1)).toBe('development container 1/1 ready')
  })

  test('a deploy without the workload deletes the workload and its mirror, but not the claim', async () => {
    const { cluster } = await up()
    expect(await deploy(cluster, wanted())).toEqual(['delete deployment/api'])
    await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
    expect(await cluster.get(MIRROR)).toBeUndefined()
    expect(await cluster.get(CLAIM)).toBeDefined()
  })

  test('`down` names the claim that stays, and deletes it on request', async () => {
    const { cluster, down } = await up()
    expect((await down()).at(-1)).toEqual({
      type: 'note',
      text: 'persistentvolumeclaim/api-dev with the files stays: `devctl down api --volumes` deletes it',
    })
    expect(await cluster.get(CLAIM)).toBeDefined()
    const deleted = { type: 'object', action: 'delete', object: 'persistentvolumeclaim/api-dev' }
    expect(await down(true)).toEqual([deleted])
    expect(await cluster.get(CLAIM)).toBeUndefined()
    expect(await down()).toEqual([])
  })

  test('`ps` shows the mirror in place of the workload', async () => {
    const { cluster } = await up()
    const { services } = await overviewOf(cluster, { environment: ENVIRONMENT, namespace: NAMESPACE, now: 0 }, {})
    expect(services).toMatchObject([{ service: 'api', workload: 'deployment/api-dev', ready: 0, wanted: 1 }])
  })

  test('a restart selects the workload, not the mirror', async () => {
    const { cluster } = await up()
    const chosen: string[] = []
    await restartServices(
      {
        cluster,
        environment: ENVIRONMENT,
        namespace: NAMESPACE,
        holder: holder(),
        select: all => {
          chosen.push(...all.map(({ metadata }) => metadata.name))
          return all
        },
        wait: false,
        services: undefined,
      },
      {
        clock: new FakeClock(),
        signal: never,
        events: { done() {}, waiting() {}, status() {}, applied() {}, routed() {}, watching() {}, locked() {} },
      },
    )
    expect(chosen).toEqual(['api'])
  })

  test.each([false, true])('destroy deletes the mirror, and its claim only with the volumes (%s)', async volumes => {
    const { cluster } = await up()
    const { deleted, kept } = await destroyEnvironment(
      { cluster, environment: ENVIRONMENT, namespace: NAMESPACE, holder: holder(), volumes, wait: false },
      { clock: new FakeClock(), signal: never, events: { planned() {}, deleted() {}, locked() {} } },
    )
    expect([...deleted].sort()).toEqual([
      'deployment/api',
      'deployment/api-dev',
      ...(volumes ? ['persistentvolumeclaim/api-dev'] : []),
    ])
    expect(kept).toEqual(volumes ? [] : ['persistentvolumeclaim/api-dev'])
    await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
    expect(await cluster.list({ apiVersion: 'v1', kind: 'Secret', namespace: NAMESPACE })).toEqual([])
  })
})
