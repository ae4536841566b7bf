import { describe, expect, test } from 'vitest'
import { ClusterError } from '../../../../adapters/kubernetes/cluster.ts'
import { isLocked, type LeaseInput, withLease } from '../../../../environment/apply/lease.ts'
import { ENVIRONMENT, holder, NAMESPACE, never, newCluster } from '../../../support/objects/deploying.ts'
import { FakeClock, settle } from '../../../support/objects/fake-clock.ts'

const lease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  name: `devctl-${ENVIRONMENT}`,
  namespace: NAMESPACE,
}

const heldBy = (holderIdentity: string) => {
  const { apiVersion, kind, name, namespace } = lease
  return { apiVersion, kind, metadata: { name, namespace }, spec: { holderIdentity } }
}

function setup() {
  const cluster = newCluster()
  const clock = new FakeClock()
  const waited: string[] = []
  const input = (more: Partial<LeaseInput> = {}): LeaseInput => ({
    cluster,
    environment: ENVIRONMENT,
    namespace: NAMESPACE,
    holder: holder(),
    clock,
    signal: never,
    waiting: name => waited.push(name),
    ...more,
  })
  const holderNow = async () => ((await cluster.get(lease))?.['spec'] as { holderIdentity?: string })?.holderIdentity // a Lease's spec
  const locked = () => isLocked(cluster, ENVIRONMENT, NAMESPACE, {})
  return { cluster, clock, input, waited, holderNow, locked }
}

/** Returns work that ends when the test says so. */
function work() {
  const signals: AbortSignal[] = []
  let end = () => {}
  const run = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      signals.push(signal)
      end = () => resolve('done')
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  return { run, signals, end: () => end() }
}

/** Returns a promise whose rejection is handled later. */
function later<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

describe('the Lease of an environment', () => {
  test('withLease holds the Lease while the work runs, and releases it with the result', async () => {
    const { input, holderNow, locked } = setup()
    const result = await withLease(input(), async () => {
      expect(await holderNow()).toBe('ann@laptop (1)')
      return 'result'
    })
    expect(result).toBe('result')
    expect(await locked()).toBe(false)
  })

  test('withLease releases the Lease when the work fails, and when it is interrupted', async () => {
    const { input, locked } = setup()
    await expect(withLease(input(), async () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await locked()).toBe(false)
    const stop = new AbortController()
    const { run } = work()
    const running = later(withLease(input({ signal: stop.signal }), run))
    await settle()
    expect(await locked()).toBe(true)
    stop.abort(new Error('interrupted'))
    await expect(running).rejects.toThrow('interrupted')
    expect(await locked()).toBe(false)
  })

  test('withLease releases the Lease if the connection is cut while creating it', async () => {
    const { cluster, input, locked } = setup()
    const create = cluster.create.bind(cluster)
    cluster.create = async (object, options) => {
      await create(object, options)
      throw new ClusterError('unreachable', 'cut')
    }
    await expect(withLease(input(), async () => 'never')).rejects.toThrow('cut')
    expect(await locked()).toBe(false)
  })

  test('withLease does not take the Lease from a holder that renews it', async () => {
    const { clock, input, waited, holderNow } = setup()
    const { run, end } = work()
    const first = withLease(input({ holder: holder('bob@desk (2)') }), run)
    await settle()
    const second = later(withLease(input(), async () => 'second'))
    await settle()
    await clock.pass(6_000)
    await expect(second).rejects.toMatchObject({
      message: 'another deploy of `shop` is running',
      notes: ['by bob@desk (2)'],
    })
    expect(waited[0]).toBe('bob@desk (2)')
    expect(await holderNow()).toBe('bob@desk (2)')
    end()
    expect(await first).toBe('done')
  })

  test('withLease waits until the Lease is released', async () => {
    const { clock, input } = setup()
    const { run, end } = work()
    const first = withLease(input({ holder: holder('bob@desk (2)') }), run)
    await settle()
    const second = withLease(input(), async () => 'second')
    await settle()
    end()
    await first
    await clock.pass(1_000)
    expect(await second).toBe('second')
  })

  test('withLease takes the Lease from a holder that is silent for its duration', async () => {
    const { cluster, clock, input, waited } = setup()
    await cluster.create(heldBy('dead@far (3)'))
    const taken = withLease(input(), async () => 'taken')
    await settle()
    await clock.pass(14_000)
    expect(waited).toHaveLength(1)
    await clock.pass(2_000)
    expect(await taken).toBe('taken')
  })

  test('withLease takes the Lease at once from an ended process of this machine', async () => {
    const { cluster, input, waited } = setup()
    await cluster.create(heldBy('ann@laptop (9)'))
    expect(await withLease(input({ holder: holder('me', ['ann@laptop (9)']) }), async () => 'taken')).toBe('taken')
    expect(waited).toEqual([])
  })

  test('a lost Lease ends the work, and stays with its new holder', async () => {
    const { cluster, clock, input, holderNow } = setup()
    const { run } = work()
    const running = later(withLease(input(), run))
    await settle()
    cluster.act(lease, live => ({ ...live, spec: { holderIdentity: 'bob@desk (2)' } }))
    await clock.pass(5_000)
    await expect(running).rejects.toThrow('another process has taken over the deploy of `shop`')
    expect(await holderNow()).toBe('bob@desk (2)')
  })

  test('a deleted Lease ends the work', async () => {
    const { cluster, clock, input } = setup()
    const { run } = work()
    const running = later(withLease(input(), run))
    await settle()
    await cluster.delete(lease)
    await clock.pass(5_000)
    await expect(running).rejects.toThrow('another process has taken over')
  })

  test('withLease continues after a failed renewal, and after one whose answer is lost', async () => {
    const { cluster, clock, input, locked } = setup()
    const { run, end, signals } = work()
    const running = later(withLease(input(), run))
    await settle()
    cluster.before = ({ verb }) => {
      if (verb === 'update') throw new ClusterError('unavailable', 'later')
    }
    await clock.pass(5_000)
    cluster.before = () => {}
    const replace = cluster.replace.bind(cluster)
    cluster.replace = async (object, options) => {
      await replace(object, options)
      cluster.replace = replace
      throw new ClusterError('unreachable', 'cut')
    }
    await clock.pass(15_000)
    expect(signals[0]?.aborted).toBe(false)
    end()
    expect(await running).toBe('done')
    expect(await locked()).toBe(false)
  })

  test('withLease ends the work if the Lease cannot be renewed for long', async () => {
    const { cluster, clock, input } = setup()
    const { run } = work()
    const running = later(withLease(input(), run))
    await settle()
    cluster.before = () => {
      throw new ClusterError('unreachable', 'nothing listens')
    }
    await clock.pass(44_000)
    await clock.pass(2_000)
    await expect(running).rejects.toThrow('nothing listens')
  })
})
