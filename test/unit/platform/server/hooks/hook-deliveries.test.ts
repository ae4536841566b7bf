import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DeliveryRecord, HookChange, HookRecord, PullRecord } from '../../../../../platform/records/hook.ts'
import { HookDeliveries } from '../../../../../platform/server/hooks/hook-deliveries.ts'

// These tests cover the record of the last delivery: its content, and how often it is written.

const SECRET = 'canary-secret'
const EVERY = 5000
const start = Date.parse('2026-01-01T00:00:00Z')
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString().replace('.000Z', 'Z')

/** Creates a webhook in memory that several replicas share. */
function open() {
  let hook: HookRecord | undefined = {
    id: 'a'.repeat(16),
    forge: 'github',
    repository: 'https://git.example.com/team/shop',
    repositoryId: '3',
    owner: 'b'.repeat(16),
    scope: 'personal',
    forks: 'approve',
    prefix: 'shop-',
    created: at(0),
    look: [],
    pulls: [],
    seen: [],
    sealed: { secret: '', token: '' },
    version: '1',
  }
  const log: string[] = []
  const store = {
    writes: 0,
    fails: false,
    get hook(): HookRecord {
      return hook!
    },
    remove: () => {
      hook = undefined
    },
    write: (more: Partial<HookRecord>) => {
      store.writes++
      if (store.fails) throw new Error('the cluster does not answer')
      hook = { ...hook!, ...more }
    },
    log,
  }
  const hooks = {
    secretOf: () => SECRET,
    find: async () => hook,
    change: async (_: string, edit: (one: HookRecord) => HookChange | undefined) => {
      const change = edit(hook!)
      if (change) store.write(change)
    },
    noteDelivery: async (_: string, lastDelivery: DeliveryRecord) => store.write({ lastDelivery }),
    noteUnsigned: async (_: string, lastUnsigned: string) => store.write({ lastUnsigned }),
  }
  const world = { now: () => Date.now(), log: ({ text }: { readonly text: string }) => void log.push(text) }
  const replica = () => {
    const deliveries = new HookDeliveries(world, hooks, EVERY)
    /** Sends a delivery, and returns the status of the response. */
    return (body: object, { event = 'pull_request', secret = SECRET } = {}): Promise<number> => {
      const bytes = Buffer.from(JSON.stringify(body))
      const signature = createHmac('sha256', secret).update(bytes).digest('hex')
      const headers = { 'x-github-event': event, 'x-hub-signature-256': `sha256=${signature}` }
      return deliveries.take(hook!, { headers, body: bytes }).then(
        () => 204,
        error => error.status,
      )
    }
  }
  return { store, replica, send: replica() }
}

let number = 0
const pull = (of: number, repository = 3) => ({
  pull_request: { number: of },
  repository: { id: repository },
  n: ++number,
})
const push = () => ({ ref: 'refs/heads/main', n: ++number })

beforeEach(() => void vi.useFakeTimers({ now: start }))
afterEach(() => void vi.useRealTimers())

describe('the last delivery', () => {
  test('an accepted delivery is recorded together with its request in one write', async () => {
    const { send, store } = open()
    expect(await send(pull(7))).toBe(204)
    expect(store.writes).toBe(1)
    expect(store.hook).toMatchObject({
      look: [7],
      lastDelivery: { time: at(0), event: 'pull_request', result: 'accepted', number: 7 },
    })
  })

  test.each([
    ['another event', push(), 204, { result: 'ignored', reason: 'it is not about a pull request' }],
    [
      'another repository',
      pull(7, 4),
      403,
      { result: 'refused', reason: 'the delivery is from a different repository than the webhook' },
    ],
    [
      'a request without a number',
      { pull_request: { number: 'canary-secret' } },
      400,
      { result: 'refused', reason: 'the delivery is not valid: the request has no valid number' },
    ],
  ])('the record says why a delivery was not accepted: %s', async (_, body, status, result) => {
    const { send, store } = open()
    expect(await send(body)).toBe(status)
    expect(store.hook.lastDelivery).toEqual({ time: at(0), event: 'pull_request', ...result })
    expect(store.hook).toMatchObject({ look: [], seen: [] })
    expect(JSON.stringify(store.hook)).not.toContain(SECRET)
  })

  test('a delivery that was already received is recorded as ignored', async () => {
    const { send, store } = open()
    const body = pull(7)
    expect([await send(body), await send(body)]).toEqual([204, 409])
    expect(store.hook.lastDelivery).toMatchObject({ result: 'ignored', reason: 'this delivery was already received' })
  })
})

describe('a flood of deliveries', () => {
  test('a flood of ignored deliveries is written every few seconds, and the last one at the end', async () => {
    const { send, store } = open()
    for (let second = 0; second < 12; second++) {
      for (let each = 0; each < 100; each++) await send(push(), { event: `event_${second}` })
      await vi.advanceTimersByTimeAsync(1000)
    }
    expect(store.writes).toBe(3)
    await vi.advanceTimersByTimeAsync(EVERY)
    expect(store.hook.lastDelivery).toMatchObject({ time: at(11), event: 'event_11' })
    const { writes } = store
    await vi.advanceTimersByTimeAsync(10 * EVERY)
    expect(store.writes).toBe(writes)
  })

  test('a flood of replayed deliveries is not written each time', async () => {
    const { send, store } = open()
    const body = pull(7)
    for (let each = 0; each < 100; each++) await send(body)
    expect(store.writes).toBe(2)
  })

  test('a flood of unsigned deliveries is written once a minute by each replica, as a time only', async () => {
    const { send, store, replica } = open()
    const other = replica()
    await send(pull(7))
    const known = store.hook.lastDelivery
    for (let second = 0; second < 90; second++) {
      await vi.advanceTimersByTimeAsync(1000)
      const sent = [send, other, send, other].map(one => one(pull(8), { secret: 'guess', event: 'evil' }))
      expect(await Promise.all(sent)).toEqual([401, 401, 401, 401])
    }
    // Both replicas can write at the same moment.
    expect(store.writes).toBeLessThanOrEqual(1 + 2 * 2)
    expect(store.hook).toMatchObject({ lastDelivery: known, lastUnsigned: at(61), look: [7] })
    expect(JSON.stringify(store.hook)).not.toContain('evil')
  })
})

test('an accepted delivery is not replaced by an earlier one that waits to be written', async () => {
  const { send, store } = open()
  await send(push())
  await send(push())
  await vi.advanceTimersByTimeAsync(1000)
  await send(pull(7))
  await vi.advanceTimersByTimeAsync(2 * EVERY)
  expect(store.hook.lastDelivery).toMatchObject({ result: 'accepted', number: 7 })
})

test('a later delivery at another replica is not replaced', async () => {
  const { send, store, replica } = open()
  await send(push())
  await send(push())
  await vi.advanceTimersByTimeAsync(1000)
  await replica()(push(), { event: 'later' })
  await vi.advanceTimersByTimeAsync(2 * EVERY)
  expect(store.hook.lastDelivery).toMatchObject({ event: 'later' })
})

test('a webhook that was removed in the meantime is not written to', async () => {
  const { send, store } = open()
  await send(push())
  await send(push())
  const { writes } = store
  store.remove()
  await vi.advanceTimersByTimeAsync(2 * EVERY)
  expect(store.writes).toBe(writes)
})

test('a record that cannot be written changes no response, and is written later', async () => {
  const { send, store } = open()
  store.fails = true
  expect(await send(push())).toBe(204)
  expect(await send(push(), { event: 'second' })).toBe(204)
  expect(store.log).toEqual([
    expect.stringContaining('the last delivery was not recorded: the cluster does not answer'),
  ])
  store.fails = false
  await vi.advanceTimersByTimeAsync(EVERY)
  expect(store.hook.lastDelivery).toMatchObject({ event: 'second' })
})

describe('deliveries about requests of outsiders', () => {
  const known = (number: number, trust: 'fork' | 'repository'): PullRecord => ({
    ...{ number, trust, page: 'https://git.example.com/7', author: 'eve', commit: 'a'.repeat(40) },
  })

  test('many deliveries about one request do not block those about other requests', async () => {
    const { send, store } = open()
    const statuses = []
    for (let count = 0; count < 230; count++) statuses.push(await send(pull(7)))
    expect([statuses[0], statuses.at(-1)]).toEqual([204, 429])
    expect(await send(pull(8))).toBe(204)
    expect(store.hook.look).toEqual([7, 8])
  })

  test('many requests of outsiders do not block deliveries about requests of the repository', async () => {
    const { send, store } = open()
    store.write({ pulls: [known(1, 'repository'), known(2, 'fork')] })
    const statuses = []
    for (let count = 0; count < 230; count++) statuses.push(await send(pull(100 + count)))
    expect([statuses[0], statuses.at(-1)]).toEqual([204, 429])
    expect([await send(pull(1)), await send(pull(2))]).toEqual([204, 429])
  })

  test('a full list refuses new requests, and drops none that is to be checked', async () => {
    const { send, store } = open()
    const look = Array.from({ length: 1000 }, (_, at) => at + 1)
    store.write({ look })
    expect([await send(pull(1001)), await send(pull(7))]).toEqual([429, 204])
    expect(store.hook.look).toHaveLength(1000)
    expect(store.hook.look).toContain(1)
  })
})
