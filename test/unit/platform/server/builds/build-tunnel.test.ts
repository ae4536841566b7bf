import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2, createServer as createHttp2 } from 'node:http2'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { frame } from '../../../../../adapters/buildkit/session/frames.ts'
import { encodeMessage } from '../../../../../adapters/buildkit/wire.ts'
import { pause } from '../../../../../adapters/http/back-off.ts'
import { SharedBudget } from '../../../../../platform/rules/shared-budget.ts'
import { type BuildClient, serveBuilds } from '../../../../../platform/server/builds/build-tunnel.ts'
import { makePools } from '../../../../../platform/server/builds/builder-pool.ts'

// These tests cover the tunnel itself, without a builder or with a simple one.

const MIB = 2 ** 20

const open: (() => void)[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const close of open.splice(0)) close()
})

/** A connection to a tunnel as the server has it: its end stays open when the other one is done. */
async function tunnel(
  builder = 'unix:///nonexistent.sock',
  room: BuildClient['room'] = { take: () => true, give() {} },
) {
  const pool = makePools({ default: [builder], untrusted: [], atOnce: 1 }).default!
  const server = createServer({ allowHalfOpen: true })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const here = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [there] = (await once(server, 'connection')) as [Socket]
  server.close()
  open.push(() => here.destroy())
  const client = { user: 'ann', scope: { namespace: 'ann', cache: 'uid' }, pool, key: Buffer.alloc(32), room }
  serveBuilds(there, { ...client, check: async () => {}, pulls: async () => [] })
  return { here, there, pool }
}

test('the tunnel closes a connection when the client ends its side', async () => {
  const { here, there } = await tunnel()
  const closed = once(there, 'close')
  here.end('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  await closed
  expect(there.destroyed).toBe(true)
})

test('a session waits for a place, and is refused when the builder cannot be reached', async () => {
  const { here, pool } = await tunnel()
  const signal = new AbortController().signal
  const slot = await pool.slots.take({ user: 'bob', namespace: 'bob', key: 'x', signal, onQueue: () => {} })
  const session = connectHttp2('http://localhost', { createConnection: () => here })
  session.on('error', () => {})
  open.push(() => session.destroy())
  const call = session.request({
    ':method': 'POST',
    ':path': '/moby.buildkit.v1.Control/Session',
    'content-type': 'application/grpc',
    'x-docker-expose-session-uuid': 'session-1',
  })
  call.on('error', () => {})
  let hasAnswer = false
  const answered = once(call, 'response').then(([headers]) => {
    hasAnswer = true
    return headers as Record<string, string>
  })
  await once(session, 'remoteSettings')
  // The server has handled the call once it has answered a ping that was sent after it.
  await new Promise<void>(resolve => session.ping(() => resolve()))
  await new Promise<void>(resolve => session.ping(() => resolve()))
  expect(hasAnswer).toBe(false)
  slot.free()
  expect((await answered)['grpc-message']).toContain('cannot%20be%20reached')
})

describe('requests of builds', () => {
  const SOLVE = { ':method': 'POST', ':path': '/moby.buildkit.v1.Control/Solve', 'content-type': 'application/grpc' }
  const PART = Buffer.alloc(16 * 1024)

  async function client(room: BuildClient['room']) {
    const { here, pool } = await tunnel(undefined, room)
    const session = connectHttp2('http://localhost', { createConnection: () => here })
    session.on('error', () => {})
    open.push(() => session.destroy())
    await once(session, 'remoteSettings')
    return { session, pool }
  }

  test('endless requests of builds use limited memory, and leave room for other users', async () => {
    const room = new SharedBudget(MIB)
    const of = (user: string) => ({
      take: (bytes: number) => room.take(user, bytes),
      give: (bytes: number) => room.give(user, bytes),
    })
    const { session } = await client(of('ann'))
    const answers: string[] = []
    const calls = Array.from({ length: 90 }, () => {
      const call = session.request(SOLVE)
      call.on('error', () => {})
      call.on('response', headers => answers.push(String(headers['grpc-message'])))
      call.resume()
      let left = MIB / 2 / PART.length
      const write = () => {
        while (left-- > 0) if (!call.write(PART)) return void call.once('drain', write)
      }
      write()
      return call
    })
    await vi.waitFor(() => expect(answers.length).toBeGreaterThan(50), 30_000)
    expect(new Set(answers)).toEqual(new Set(['too%20many%20requests%20are%20sent%20at%20the%20same%20time']))
    expect(room.taken).toBeLessThanOrEqual(MIB / 2)

    const { session: other } = await client(of('bob'))
    const call = other.request(SOLVE)
    call.on('error', () => {})
    call.end(Buffer.concat(frame(Buffer.from('no request'))))
    const [headers] = (await once(call, 'response')) as [Record<string, string>]
    expect(headers['grpc-message']).toContain('cannot%20be%20read')

    for (const one of calls) one.close()
    session.destroy()
    await vi.waitFor(() => expect(room.taken).toBe(0), 10_000)
  })

  test('the tunnel does not read unlimited data for builds that wait', async () => {
    const { session, pool } = await client({ take: () => true, give() {} })
    const signal = new AbortController().signal
    await pool.slots.take({ user: 'bob', namespace: 'bob', key: 'x', signal, onQueue: () => {} })
    let taken = 0
    for (let number = 0; number < 4; number++) {
      const call = session.request({
        ...SOLVE,
        ':path': '/moby.buildkit.v1.Control/Session',
        'x-docker-expose-session-uuid': `session-${number}`,
      })
      call.on('error', () => {})
      for (let sent = 0; sent < MIB; sent += PART.length)
        call.write(PART, error => {
          if (!error) taken += PART.length
        })
    }
    await vi.waitFor(() => expect(taken).toBeGreaterThan(0), 10_000)
    await pause(1000, undefined)
    expect(taken).toBeLessThanOrEqual(MIB / 2)
  })
})

describe('a place on a builder', () => {
  const CONTROL = '/moby.buildkit.v1.Control/'

  /** A builder whose builds take no time, or never end; it says which calls it has, and which were cut off. */
  async function builder({ isQuick }: { readonly isQuick: boolean }) {
    const calls: string[] = []
    const ended: string[] = []
    const server = createHttp2()
    server.on('stream', (stream, headers) => {
      const name = String(headers[':path']).replace(CONTROL, '')
      calls.push(name)
      stream.on('error', () => {})
      stream.once('close', () => ended.push(name))
      stream.resume()
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      if (name === 'Solve' && isQuick) stream.end()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    open.push(() => server.close())
    return { address: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, ended }
  }

  async function opened(options: { readonly isQuick: boolean }) {
    const there = await builder(options)
    const { here, pool } = await tunnel(there.address)
    // The timers of Node.js itself stay real.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const session = connectHttp2('http://localhost', { createConnection: () => here })
    session.on('error', () => {})
    open.push(() => session.destroy())
    return { ...there, session, pool }
  }

  /** A call whose own side stays open, as of a client that never leaves. */
  function call(session: ClientHttp2Session, name: string, headers: object, message?: Buffer) {
    const stream = session.request({
      ':method': 'POST',
      ':path': `${CONTROL}${name}`,
      'content-type': 'application/grpc',
      ...headers,
    })
    const told: Record<string, unknown>[] = []
    stream.on('error', () => {})
    stream.on('trailers', trailers => told.push(trailers))
    stream.resume()
    if (message) stream.end(Buffer.concat(frame(message)))
    return { stream, told }
  }

  const begin = (session: ClientHttp2Session) =>
    call(session, 'Session', { 'x-docker-expose-session-uuid': 'session-1' })
  const solve = (session: ClientHttp2Session) => {
    const request = { Ref: 'build-of-ann-1', Session: 'session-1', Frontend: 'dockerfile.v0', FrontendAttrs: {} }
    return call(session, 'Solve', {}, encodeMessage('moby.buildkit.v1.SolveRequest', request) as Buffer)
  }
  const next = (pool: ReturnType<typeof makePools>['default']) => {
    const signal = new AbortController().signal
    return pool!.slots.take({ user: 'bob', namespace: 'bob', key: 'x', signal, onQueue: () => {} })
  }

  test('a place is freed when no build starts, even if the client keeps its side open', async () => {
    const { session, pool, ended, calls } = await opened({ isQuick: true })
    const { stream, told } = begin(session)
    await vi.waitFor(() => expect(calls).toEqual(['Session']))
    const slot = next(pool)
    await vi.advanceTimersByTimeAsync(60_000)
    await slot
    await vi.waitFor(() => expect(ended).toEqual(['Session']))
    await vi.waitFor(() => expect(told[0]?.['grpc-message']).toContain('has%20no%20build'))
    await vi.waitFor(() => vi.advanceTimersByTimeAsync(5000).then(() => expect(stream.closed).toBe(true)))
  })

  test('a session takes all data that its client sends', async () => {
    const { session, calls } = await opened({ isQuick: false })
    const { stream } = begin(session)
    await vi.waitFor(() => expect(calls).toEqual(['Session']))
    let taken = 0
    for (let sent = 0; sent < 3 * MIB; sent += MIB / 16)
      stream.write(Buffer.alloc(MIB / 16), error => {
        if (!error) taken += MIB / 16
      })
    await vi.waitFor(() => expect(taken).toBe(3 * MIB), 10_000)
  })

  test('a place is freed after its build, even if the client keeps the session', async () => {
    const { session, pool, calls, ended } = await opened({ isQuick: true })
    const { stream } = begin(session)
    await vi.waitFor(() => expect(calls).toEqual(['Session']))
    await once(solve(session).stream, 'close')
    const slot = next(pool)
    await vi.advanceTimersByTimeAsync(5000)
    await slot
    await vi.waitFor(() => expect(ended).toEqual(['Solve', 'Session']))
    await vi.waitFor(() => vi.advanceTimersByTimeAsync(5000).then(() => expect(stream.closed).toBe(true)))
  })

  test('a place is freed when its build takes too long', async () => {
    const { session, pool, calls, ended } = await opened({ isQuick: false })
    begin(session)
    await vi.waitFor(() => expect(calls).toEqual(['Session']))
    const { told } = solve(session)
    await vi.waitFor(() => expect(calls).toEqual(['Session', 'Solve']))
    const slot = next(pool)
    await vi.advanceTimersByTimeAsync(3_600_000)
    await slot
    await vi.waitFor(() => expect([...ended].sort()).toEqual(['Session', 'Solve']))
    await vi.waitFor(() => expect(told[0]?.['grpc-message']).toContain('60%20minutes'))
  })

  test('a build ends with its session, which frees the place', async () => {
    const { session, pool, calls, ended } = await opened({ isQuick: false })
    const { stream } = begin(session)
    await vi.waitFor(() => expect(calls).toEqual(['Session']))
    const { stream: build } = solve(session)
    await vi.waitFor(() => expect(calls).toEqual(['Session', 'Solve']))
    const slot = next(pool)
    stream.close()
    await slot
    await vi.waitFor(() => expect([...ended].sort()).toEqual(['Session', 'Solve']))
    await vi.waitFor(() => expect(build.closed).toBe(true))
  })

  describe('a place that a build waits for', () => {
    const status = (session: ClientHttp2Session) => {
      const request = encodeMessage('moby.buildkit.v1.StatusRequest', { Ref: 'build-of-ann-1' })
      const made = call(session, 'Status', {}, request as Buffer)
      const refused = once(made.stream, 'response').then(([headers]) => headers['grpc-message'] as string | undefined)
      return { ...made, refused }
    }

    async function waiting() {
      const there = await opened({ isQuick: false })
      const slot = await next(there.pool)
      begin(there.session)
      solve(there.session)
      return { ...there, slot }
    }

    test('a status call for a waiting build is answered, and then forwarded', async () => {
      const { session, slot, calls, ended } = await waiting()
      const { stream, refused } = status(session)
      expect(await refused).toBeUndefined()
      slot.free()
      await vi.waitFor(() => expect([...calls].sort()).toEqual(['Session', 'Solve', 'Status']))
      stream.close()
      await vi.waitFor(() => expect(ended).toContain('Status'))
    })

    test('a waiting build answers few status calls, and closed ones are not forwarded', async () => {
      const { session, slot, calls } = await waiting()
      const answers: (string | undefined)[] = []
      for (let number = 0; number < 20; number++) {
        const { stream, refused } = status(session)
        answers.push(await refused)
        stream.close()
        await once(stream, 'close')
      }
      expect(answers.filter(answer => answer === undefined).length).toBeLessThanOrEqual(8)
      expect(answers.at(-1)).toContain('too%20many')
      slot.free()
      await vi.waitFor(() => expect([...calls].sort()).toEqual(['Session', 'Solve']))
      // The builder answers a later call only after all of these were handled.
      expect(await status(session).refused).toBeUndefined()
      await vi.waitFor(() => expect(calls.length).toBeGreaterThan(2))
      expect([...calls].sort()).toEqual(['Session', 'Solve', 'Status'])
    })
  })
})
