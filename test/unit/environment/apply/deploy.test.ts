import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import type { Plan } from '../../../../compiler/plan/plan.ts'
import type { Manifest } from '../../../../constructs/manifest.ts'
import { type DeployEvents, deployEnvironment } from '../../../../environment/apply/deploy.ts'
import { NO_CHOICES } from '../../../../environment/plan/choices.ts'
import type { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import {
  ENVIRONMENT,
  holder,
  NAMESPACE,
  never,
  newCluster,
  object,
  ref,
  SOURCE,
} from '../../../support/objects/deploying.ts'
import { FakeClock } from '../../../support/objects/fake-clock.ts'

// A deploy reads only these fields of a plan.
const plan = { environment: { name: ENVIRONMENT }, secrets: [], workloads: [] } as unknown as Plan

const deployment = (name: string, replicas = 1): KubeObject =>
  object('Deployment', name, { spec: { replicas, template: {} } }, name)

/** Deploys these objects, and returns how many changes were planned, each time. */
async function deploy(
  cluster: MemoryCluster,
  objects: readonly KubeObject[],
  events: Pick<DeployEvents, 'mayOverwrite'> = {},
): Promise<readonly number[]> {
  const planned: number[] = []
  const manifests = objects.map(
    (object): Manifest => ({ source: 'compose.yaml', folder: '_shared', object: object as Manifest['object'] }),
  )
  const heard = {
    ...{ locked() {}, done() {}, waiting() {}, status() {}, applied() {}, routed() {}, watching() {} },
    ...events,
    planned: (changes: Parameters<DeployEvents['planned']>[0]) =>
      planned.push([...changes.steps.values()].filter(({ action }) => action !== 'unchanged').length),
  }
  await deployEnvironment(
    {
      ...{ cluster, plan, synth: () => manifests, namespace: NAMESPACE, source: SOURCE, choices: NO_CHOICES },
      ...{ services: undefined, holder: holder(), wait: false },
    },
    { clock: new FakeClock(), events: heard, signal: never },
  )
  return planned
}

/** Does something once, when a deploy has planned and takes the Lease. */
function betweenPlanAndLease(cluster: MemoryCluster, act: () => Promise<unknown>): void {
  cluster.before = async ({ verb, kind }) => {
    if (verb !== 'create' || kind !== 'Lease') return
    cluster.before = () => {}
    await act()
  }
}

describe('a deploy that plans again because another one was faster', () => {
  test('refuses to delete the many workloads of the other one', async () => {
    const cluster = newCluster()
    await deploy(cluster, [deployment('web')])
    const others = ['a', 'b', 'c', 'd', 'e'].map(name => deployment(name))
    betweenPlanAndLease(cluster, () => deploy(cluster, [deployment('web'), ...others]))
    await expect(deploy(cluster, [deployment('web', 2)])).rejects.toThrow('5 workloads are no longer in the files')
    for (const one of others) expect(await cluster.get(ref(one))).toBeDefined()
  })

  test('reports the changes of the second plan', async () => {
    const cluster = newCluster()
    await deploy(cluster, [deployment('web'), deployment('db')])
    betweenPlanAndLease(cluster, () => deploy(cluster, [deployment('web'), deployment('db', 3)]))
    expect(await deploy(cluster, [deployment('web', 2), deployment('db')])).toEqual([1, 2])
  })

  test.each([
    ['the user refuses', [false], 'nothing was deployed'],
    ['the user agrees', [true], undefined],
  ])('asks about manual changes that came after its first plan: %s', async (_, answers, refusal) => {
    const cluster = newCluster()
    await deploy(cluster, [deployment('web'), deployment('db')])
    const byHand = (name: string, replicas: number) =>
      cluster.act(
        ref(deployment(name)),
        live => ({ ...live, spec: { ...(live['spec'] as object), replicas } }),
        'kubectl',
      )
    betweenPlanAndLease(cluster, async () => {
      await deploy(cluster, [deployment('web', 4), deployment('db')])
      byHand('db', 7)
    })
    const asked: string[] = []
    const mayOverwrite: NonNullable<DeployEvents['mayOverwrite']> = async drift => {
      asked.push(...drift.map(({ object }) => object))
      return answers.shift()!
    }
    const done = deploy(cluster, [deployment('web', 2), deployment('db')], { mayOverwrite })
    if (refusal) await expect(done).rejects.toThrow(refusal)
    else await done
    expect(asked).toEqual(['deployment/db'])
    const db = (await cluster.get(ref(deployment('db'))))!['spec'] as { readonly replicas: number }
    expect(db.replicas).toBe(refusal ? 7 : 1)
  })

  test('asks only once about the same manual change', async () => {
    const cluster = newCluster()
    await deploy(cluster, [deployment('web'), deployment('db')])
    const web = ref(deployment('web'))
    cluster.act(web, live => ({ ...live, spec: { ...(live['spec'] as object), replicas: 7 } }), 'kubectl')
    betweenPlanAndLease(cluster, () => deploy(cluster, [deployment('web', 7), deployment('db', 3)]))
    let asked = 0
    await deploy(cluster, [deployment('web'), deployment('db')], { mayOverwrite: async () => ++asked > 0 })
    expect(asked).toBe(1)
  })
})
