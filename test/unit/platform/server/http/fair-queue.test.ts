import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { FairQueue } from '../../../../../platform/server/http/fair-queue.ts'
import { PlatformError } from '../../../../../platform/server/http/platform-error.ts'
import { eventually } from '../../../../support/cluster/cluster.ts'

// The queue limits the requests of one caller that are processed at the same time.

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** Waits until something holds, and checks every 5 ms. */
const eventuallyHolds = (what: string, holds: () => boolean) =>
  eventually(what, async () => holds() || undefined, { seconds: 30, pause: 5 })

/** Starts a server whose responses wait until they are released; a credential begins with the name of its caller. */
async function open(turns: FairQueue) {
  const working: {
    readonly who: string
    readonly answer: () => void
    readonly end: () => void
    readonly work: <R>(run: () => Promise<R>) => Promise<R>
  }[] = []
  let asked = 0
  let came = 0
  let closed = 0
  const know = async (credential: string) => {
    asked++
    const [who = '', kind] = credential.split('-')
    if (kind === 'wrong') throw new PlatformError(401, 'login', 'log in first')
    return who
  }
  server = createServer(async (request, response) => {
    came++
    response.once('close', () => closed++)
    try {
      const turn = await turns.take(
        { credential: request.headers.authorization, response },
        () => know(request.headers.authorization ?? 'nobody'),
        one => one,
      )
      working.push({ ...turn, answer: () => response.end() })
    } catch (error) {
      response.writeHead(error instanceof PlatformError ? error.status : 500).end()
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const ask = (authorization?: string, signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}`, {
      headers: authorization === undefined ? {} : { authorization },
      ...(signal && { signal }),
    }).then(
      ({ status }) => status,
      () => 0,
    )
  const until = (count: number) => eventuallyHolds(`${count} are worked on`, () => working.length === count)
  /** Makes a request with a credential, so that its owner is known from then on. */
  const meet = async (credential: string) => {
    const first = ask(credential)
    await until(1)
    working.shift()!.answer()
    await first
  }
  return { ask, meet, working, until, asked: () => asked, came: () => came, closed: () => closed }
}

test('requests of one caller wait for each other with all credentials, but not for other callers', async () => {
  const turns = new FairQueue({ atOnce: 2, waiting: 10 })
  const { ask, meet, working, until, asked } = await open(turns)
  await meet('ann-1')
  await meet('ann-2')
  const all = ['ann-1', 'ann-2', 'ann-1', 'ann-2'].map(one => ask(one))
  await until(2)
  const other = ask('bob-1')
  await until(3)
  expect(working.map(({ who }) => who).sort()).toEqual(['ann', 'ann', 'bob'])
  expect(asked(), 'nothing is asked for who waits').toBe(5)
  for (let done = 0; done < 5; done++) {
    await eventuallyHolds('one is worked on', () => working.length > 0)
    working.shift()!.answer()
  }
  expect(await Promise.all([...all, other])).toEqual([200, 200, 200, 200, 200])
  await eventuallyHolds('nothing is kept', () => turns.size === 0)
})

test('a new credential waits for the other credentials of its owner', async () => {
  const turns = new FairQueue({ atOnce: 1, waiting: 10 })
  const { ask, working, until } = await open(turns)
  const all = ['ann-1', 'ann-2', 'ann-3'].map(one => ask(one))
  const other = ask('bob-1')
  await until(2)
  expect(working.map(({ who }) => who).sort()).toEqual(['ann', 'bob'])
  for (let done = 0; done < 4; done++) {
    await eventuallyHolds('one is worked on', () => working.length > 0)
    expect(working.filter(({ who }) => who === 'ann').length).toBeLessThanOrEqual(1)
    working.shift()!.answer()
  }
  expect(await Promise.all([...all, other])).toEqual([200, 200, 200, 200])
  await eventuallyHolds('nothing is kept', () => turns.size === 0)
})

test('a caller with too many requests is refused, and a disconnected client makes room', async () => {
  const turns = new FairQueue({ atOnce: 1, waiting: 2 })
  const { ask, meet, working, until, came, closed } = await open(turns)
  await meet('ann-1')
  const stream = ask('ann-1')
  await until(1)
  const leaving = new AbortController()
  const gone = ask('ann-1', leaving.signal)
  const last = ask('ann-1')
  await eventuallyHolds('the others wait', () => came() === 4)
  expect(await ask('ann-1')).toBe(429)
  leaving.abort()
  expect(await gone).toBe(0)
  await eventuallyHolds('the server knows', () => closed() === 3)
  // The first response ends later, like a stream.
  working[0]!.end()
  await until(2)
  working[1]!.answer()
  expect(await last).toBe(200)
  working[0]!.answer()
  expect(await stream).toBe(200)
  await eventuallyHolds('nothing is kept', () => turns.size === 0)
})

test('work that has begun keeps its turn until it has settled, even if its client disconnects', async () => {
  const turns = new FairQueue({ atOnce: 1, waiting: 2 })
  const { ask, meet, working, until, closed } = await open(turns)
  await meet('ann-1')
  const leaving = new AbortController()
  const first = ask('ann-1', leaving.signal)
  await until(1)
  let finish = () => {}
  const work = working[0]!.work(
    () =>
      new Promise<void>(resolve => {
        finish = resolve
      }),
  )
  leaving.abort()
  expect(await first).toBe(0)
  await eventuallyHolds('the server knows', () => closed() === 2)
  const next = ask('ann-1')
  await new Promise(resolve => setTimeout(resolve, 100))
  expect(working).toHaveLength(1)
  finish()
  await work
  await until(2)
  let done = 0
  const doOne = async () => {
    done++
  }
  await working[1]!.work(doOne)
  expect(done).toBe(1)
  working[1]!.answer()
  expect(await next).toBe(200)

  // No work starts for a client that has already disconnected.
  const again = new AbortController()
  const last = ask('ann-1', again.signal)
  await until(3)
  again.abort()
  await last
  await eventuallyHolds('the server knows', () => closed() === 4)
  await expect(working[2]!.work(doOne)).rejects.toMatchObject({ status: 408 })
  expect(done).toBe(1)
  await eventuallyHolds('nothing is kept', () => turns.size === 0)
})

test('unknown credentials are refused, and requests without one do not wait', async () => {
  const turns = new FairQueue({ atOnce: 1, waiting: 0 })
  const { ask, working, until } = await open(turns)
  const all = [ask(), ask(), ask('ann-1')]
  await until(3)
  expect(await Promise.all([ask('eve-wrong'), ask('mallory-wrong')])).toEqual([401, 401])
  for (const { answer } of working) answer()
  expect(await Promise.all(all)).toEqual([200, 200, 200])
})
