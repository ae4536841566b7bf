import { expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { ASLEEP, fromResting } from '../../../platform/records/asleep.ts'
import { WakingProgress } from '../../../platform/server/sleep/waker/progress.ts'
import { MemoryCluster } from '../../support/memory-cluster/memory-cluster.ts'

// Progress of a waking namespace is shown to anyone who requests it, so it must be cheap.

const workload = (namespace: string, name: string, readyReplicas = 0): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: { replicas: 1, selector: {}, template: {} },
  status: { readyReplicas },
})

async function open(...namespaces: string[]) {
  let now = 1000
  const cluster = new MemoryCluster({ namespaces })
  for (const namespace of namespaces) {
    const resting = []
    for (const name of ['api', 'web']) {
      const { metadata } = await cluster.create(workload(namespace, name))
      resting.push({ kind: 'Deployment', name, uid: metadata.uid!, replicas: 1 } as const)
    }
    await cluster.create(workload(namespace, 'other'))
    const gone = { kind: 'StatefulSet', name: 'gone', uid: 'u', replicas: 1 } as const
    const annotations = { [ASLEEP]: fromResting([...resting, gone]) }
    await cluster.patch(
      { apiVersion: 'v1', kind: 'Namespace', name: namespace },
      { metadata: { annotations } },
      { manager: 'test' },
    )
  }
  cluster.calls.length = 0
  const wait = (milliseconds: number) => {
    now += milliseconds
  }
  return { cluster, progress: new WakingProgress(cluster, () => now), wait }
}

test('the progress reads only what sleep has recorded', async () => {
  const { cluster, progress } = await open('shop')
  expect(await progress.of('shop')).toEqual({ ready: 0, services: 2 })
  expect(cluster.calls.map(({ verb }) => verb)).toEqual(['get', 'get', 'get', 'get'])
})

test('concurrent callers share one read, which is reused for half a second', async () => {
  const { cluster, progress, wait } = await open('shop')
  let goOn = () => {}
  const held = new Promise<void>(resolve => {
    goOn = resolve
  })
  cluster.before = () => held
  const first = progress.of('shop')
  wait(10_000)
  expect(progress.of('shop')).toBe(first)
  goOn()
  await first
  wait(400)
  expect(progress.of('shop')).toBe(first)
  wait(200)
  expect(progress.of('shop')).not.toBe(first)
})

test('no more than two namespaces are read at the same time', async () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const { cluster, progress } = await open(...names)
  let active = 0
  let most = 0
  cluster.before = async () => {
    most = Math.max(most, ++active)
    await new Promise(resolve => setTimeout(resolve, 1))
    active--
  }
  const all = await Promise.all(names.map(name => progress.of(name)))
  expect(all.map(({ services }) => services)).toEqual([2, 2, 2, 2, 2])
  expect(most).toBe(2)
})
