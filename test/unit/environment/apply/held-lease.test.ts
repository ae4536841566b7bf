import { expect, test } from 'vitest'
import type { Cluster } from '../../../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { deployerOf, holdLease, personOf } from '../../../../environment/apply/held-lease.ts'
import { holder, NAMESPACE, never, newCluster } from '../../../support/objects/deploying.ts'
import { FakeClock, settle } from '../../../support/objects/fake-clock.ts'

/** Returns a cluster that never answers the renewal of a Lease. */
function frozen(cluster: Cluster): Cluster {
  return new Proxy(cluster, {
    get: (target, key) =>
      key === 'replace' ? () => new Promise(() => {}) : Reflect.get(target, key, target).bind?.(target),
  })
}

test('deployerOf names the person that the platform knows, personOf also names the machine', () => {
  const ofRun = { holder: { name: 'ann@r-01m8x-k2p7q (7)', person: 'ann', isGone: () => false } }
  expect([deployerOf(ofRun), personOf(ofRun)]).toEqual(['ann', 'ann@r-01m8x-k2p7q'])
  const ofLaptop = { holder: { name: 'ann@laptop (7)', isGone: () => false } }
  expect(deployerOf(ofLaptop)).toBe('ann@laptop')
})

test.each([
  [true, true],
  [false, false],
])('a Lease that is strict (%s) is lost when its renewals stay unanswered (%s)', async (isStrict, isLost) => {
  const clock = new FakeClock()
  const lease = await holdLease({
    cluster: frozen(newCluster()),
    name: 'leader',
    namespace: NAMESPACE,
    labels: {},
    holder: holder(),
    clock,
    signal: never,
    waiting: () => {},
    busy: () => new UserError('busy'),
    lost: () => new UserError('lost'),
    silence: 9000,
    isStrict,
  })
  await clock.pass(5000)
  expect(lease.signal.aborted).toBe(false)
  // Other holders take the Lease 15 s after its last renewal.
  await clock.pass(5000)
  await settle()
  expect(lease.signal.aborted).toBe(isLost)
})

test('check detects at once that another holder took the Lease, and accepts the new holder', async () => {
  const clock = new FakeClock()
  const cluster = newCluster()
  const wish = (name: string) => ({
    cluster,
    name: 'up',
    namespace: NAMESPACE,
    labels: {},
    holder: { ...holder(), name },
    clock,
    signal: never,
    waiting: () => {},
    busy: () => new UserError('busy'),
    lost: () => new UserError('taken'),
    silence: Number.POSITIVE_INFINITY,
  })
  const first = await holdLease(wish('ann@laptop (1)'))
  await first.check()
  expect(first.signal.aborted).toBe(false)
  const second = await holdLease({ ...wish('ann@laptop (2)'), takeOver: true })
  expect(first.signal.aborted).toBe(false)
  await first.check()
  expect(first.signal.reason).toEqual(new UserError('taken'))
  await second.check()
  expect(second.signal.aborted).toBe(false)
})

test('a Lease that is released at the moment of the takeover is created again', async () => {
  const cluster = newCluster()
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' }
  const metadata = { name: 'up', namespace: NAMESPACE }
  await cluster.create({ ...lease, metadata, spec: { holderIdentity: 'ann@laptop (1)' } })
  cluster.before = async ({ verb }) => {
    if (verb !== 'update') return
    cluster.before = () => {}
    await cluster.delete({ ...lease, ...metadata })
  }
  const held = await holdLease({
    ...{ cluster, ...metadata, labels: {} },
    holder: holder('ann@laptop (2)', ['ann@laptop (1)']),
    ...{ clock: new FakeClock(), signal: never, silence: 9000 },
    waiting: () => {},
    busy: () => new UserError('busy'),
    lost: () => new UserError('lost'),
  })
  expect((await cluster.get({ ...lease, ...metadata }))?.['spec']).toMatchObject({ holderIdentity: 'ann@laptop (2)' })
  await held.release()
})
