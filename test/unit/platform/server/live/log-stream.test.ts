import { afterEach, expect, test, vi } from 'vitest'
import { SharedBudget } from '../../../../../platform/rules/shared-budget.ts'
import { logStream, type WantedLogs } from '../../../../../platform/server/live/log-stream.ts'
import { FakePods } from '../../../../support/objects/fake-pods.ts'

/** Timeout in milliseconds that is enough on a busy machine. */
const LONG = { timeout: 15_000 }

const ROOM = { take: () => true, give: () => {} }
const open = new Set<AbortController>()
afterEach(() => {
  for (const one of open) one.abort()
  open.clear()
})

function stream(pods: FakePods, more: Partial<WantedLogs> = {}) {
  const stop = new AbortController()
  open.add(stop)
  const wanted = { cluster: pods.cluster, namespace: 'shop', environment: 'shop', service: undefined, tail: 100 }
  const events = logStream({ ...wanted, after: undefined, room: ROOM, now: () => pods.now(), ...more }, stop.signal)
  return { events, stop }
}

/** The next lines, as `service: text`, with the id of the last one. */
async function take(events: ReturnType<typeof logStream>, count: number) {
  const lines: string[] = []
  let id: string | undefined
  while (lines.length < count) {
    const { value, done } = await events.next()
    if (done) break
    if (value.data.type === 'line') {
      lines.push(`${value.data.service}: ${value.data.text}`)
      id = value.id
    }
  }
  return { lines, id }
}

function running(...names: readonly string[]): FakePods {
  const pods = new FakePods()
  for (const name of names) {
    pods.add(`${name}-1`, name)
    pods.start(`${name}-1`)
  }
  return pods
}

test('a stream has the lines of all services or of one, and then the new ones', async () => {
  const pods = running('api', 'db')
  pods.write('api-1', ['one'])
  pods.write('db-1', ['two'])
  const [all, own] = [stream(pods), stream(pods, { service: 'db' })]
  expect((await take(all.events, 2)).lines).toEqual(['api: one', 'db: two'])
  pods.write('api-1', ['three'])
  pods.write('db-1', ['four'])
  expect((await take(all.events, 2)).lines.sort()).toEqual(['api: three', 'db: four'])
  expect((await take(own.events, 2)).lines).toEqual(['db: two', 'db: four'])
})

test('a client continues after the last line that it has', async () => {
  const pods = running('api')
  pods.write('api-1', ['one', 'two'])
  const first = stream(pods)
  const { id } = await take(first.events, 2)
  first.stop.abort()
  pods.write('api-1', ['three', 'four'])
  expect((await take(stream(pods, { after: id }).events, 2)).lines).toEqual(['api: three', 'api: four'])
})

test('a client that continues gets late lines of other containers, and no line twice', async () => {
  const pods = running('api', 'db')
  pods.write('db-1', ['db first'], { at: '00:00:01.000' })
  pods.write('api-1', ['api first'], { at: '00:00:01.100' })
  const first = stream(pods)
  expect((await take(first.events, 2)).lines).toEqual(['db: db first', 'api: api first'])
  pods.write('db-1', ['db late'], { at: '00:00:01.900' })
  const { lines, id } = await take(first.events, 1)
  expect(lines).toEqual(['db: db late'])
  first.stop.abort()
  // The node delivers this line later than the line of the other container.
  pods.write('api-1', ['api early'], { at: '00:00:01.500' })
  const second = stream(pods, { after: id })
  const more = await take(second.events, 1)
  expect(more.lines).toEqual(['api: api early'])
  second.stop.abort()
  pods.write('db-1', ['db last'], { at: '00:00:02.000' })
  expect((await take(stream(pods, { after: more.id }).events, 1)).lines).toEqual(['db: db last'])
  expect(more.id).toMatch(/^[\w.:-]{1,100}$/)
})

test('a slow client loses no line', async () => {
  const pods = running('api')
  const lines = Array.from({ length: 2000 }, (_, index) => `line ${index}`)
  pods.write('api-1', lines)
  const { events } = stream(pods, { tail: 5000 })
  await take(events, 1)
  await new Promise(resolve => setTimeout(resolve, 50))
  expect((await take(events, 1999)).lines).toEqual(lines.slice(1).map(line => `api: ${line}`))
})

test('a stream ends with its client, and cuts long lines', async () => {
  const pods = running('api')
  pods.write('api-1', ['x'.repeat(100_000)])
  const { events, stop } = stream(pods)
  expect((await take(events, 1)).lines[0]!.length).toBeLessThan(20_000)
  const next = events.next()
  stop.abort()
  expect((await next).done).toBe(true)
})

test('few lines wait for a client that does not read, and fewer if they are long', async () => {
  for (const [length, most] of [
    [1, 300],
    [20_000, 60],
  ] as const) {
    const pods = running('api')
    const all = Array.from({ length: 400 }, (_, at) => `${at} ${'x'.repeat(length)}`)
    let read = 0
    const logs = pods.cluster.logs.bind(pods.cluster)
    Object.assign(pods.cluster, {
      async *logs(...args: Parameters<typeof logs>) {
        for await (const one of logs(...args)) {
          read++
          yield one
        }
      },
    })
    pods.write('api-1', all)
    const { events } = stream(pods, { tail: 1000 })
    await events.next()
    await vi.waitFor(() => expect(read).toBeGreaterThan(10), LONG)
    for (let turn = 0; turn < 1000; turn++) await Promise.resolve()
    expect(read).toBeLessThan(most)
    const left = await take(events, 399)
    expect(left.lines).toHaveLength(399)
  }
})

test('followed Pods count in the budget, and those that do not fit are omitted with a note', async () => {
  const pods = running('api', 'db', 'web')
  for (const name of ['api-1', 'db-1', 'web-1']) pods.write(name, ['hello'])
  const budget = new SharedBudget(4 * 40 * 1024)
  const room = { take: (size: number) => budget.take('ann', size), give: (size: number) => budget.give('ann', size) }
  const { events, stop } = stream(pods, { room })
  const texts: string[] = []
  while (texts.length < 3) {
    const { value } = await events.next()
    texts.push(value.data.text)
  }
  expect(texts.sort()).toEqual(['hello', 'hello', 'there are more containers than can be read at the same time'])
  expect(budget.taken).toBeGreaterThan(2 * 32 * 1024)
  expect(budget.taken).toBeLessThan(2 * 40 * 1024)
  stop.abort()
  await events.return(undefined)
  await vi.waitFor(() => expect(budget.taken).toBe(0), LONG)
})
