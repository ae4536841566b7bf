import { expect, test } from 'vitest'
import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { withLease } from '../../../environment/apply/lease.ts'

/** Returns a cluster with one Lease, which another user holds. */
function held(): { cluster: Cluster; lease: () => KubeObject | undefined; renew: () => void } {
  let version = 1
  let lease: KubeObject | undefined = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'devctl-shop', namespace: 'dev', uid: '1', resourceVersion: '1' },
    spec: { holderIdentity: 'ann@laptop (1)' },
  }
  const withVersion = (object: KubeObject) => ({
    ...object,
    metadata: { ...object.metadata, uid: '1', resourceVersion: String(++version) },
  })
  const cluster: Partial<Cluster> = {
    create: async object => {
      if (lease) throw new ClusterError('exists', 'it is there')
      lease = withVersion(object)
      return lease
    },
    get: async () => lease,
    replace: async object => {
      lease = withVersion(object)
      return lease
    },
    delete: async () => {
      lease = undefined
      return true
    },
  }
  const renew = () => {
    if (lease) lease = withVersion(lease)
  }
  return { cluster: cluster as Cluster, lease: () => lease, renew } // only the methods that a Lease uses
}

/** Returns a clock that each wait advances at once. */
function fastClock(each: () => void = () => {}) {
  let now = 0
  return {
    now: () => now,
    every(milliseconds: number, run: () => void) {
      let stopped = false
      queueMicrotask(() => {
        if (stopped) return
        now += milliseconds
        each()
        run()
      })
      return () => {
        stopped = true
      }
    },
  }
}

const input = (cluster: Cluster, clock: ReturnType<typeof fastClock>, told: string[]) => ({
  cluster,
  environment: 'shop',
  namespace: 'dev',
  holder: { name: 'bob@desk (2)', isGone: () => false },
  clock,
  signal: new AbortController().signal,
  waiting: (holder: string) => told.push(holder),
})

test('a silent holder is waited for, reported once, and replaced', async () => {
  const { cluster, lease } = held()
  const told: string[] = []
  const clock = fastClock()
  const holder = await withLease(input(cluster, clock, told), async () => lease()?.['spec'])
  expect(holder).toMatchObject({ holderIdentity: 'bob@desk (2)' })
  expect(clock.now()).toBeGreaterThanOrEqual(15_000)
  expect(told).toEqual(['ann@laptop (1)'])
  expect(lease()).toBeUndefined()
})

test('a holder that renews its Lease is named in the error', async () => {
  const { cluster, renew } = held()
  const failure = await withLease(input(cluster, fastClock(renew), []), async () => {}).catch(error => error)
  expect(failure).toBeInstanceOf(UserError)
  expect(failure).toMatchObject({ message: 'another deploy of `shop` is running', notes: ['by ann@laptop (1)'] })
})
