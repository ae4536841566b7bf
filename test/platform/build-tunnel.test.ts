import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { serveBuilds } from '../../platform/server/builds/build-tunnel.ts'
import { makePools } from '../../platform/server/builds/builder-pool.ts'

// What the tunnel does by itself, before any builder is asked.

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

/** A connection to a tunnel as the server has it: its end stays open when the other one is done. */
async function tunnel() {
  const pool = makePools({ default: ['unix:///nonexistent.sock'], untrusted: [], atOnce: 1 }).default!
  const server = createServer({ allowHalfOpen: true })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const here = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [there] = (await once(server, 'connection')) as [Socket]
  server.close()
  open.push(() => here.destroy())
  const client = { user: 'ann', scope: { namespace: 'ann', cache: 'uid' }, pool, key: Buffer.alloc(32) }
  serveBuilds(there, { ...client, check: async () => {} })
  return { here, there, pool }
}

test('a client that is gone behind a proxy is gone', async () => {
  const { here, there } = await tunnel()
  const closed = once(there, 'close')
  here.end('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  await closed
  expect(there.destroyed).toBe(true)
})

test('a session waits for a place, and is told no when the builder is lost', async () => {
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
  // As long as the server needs to look at the call: it has answered a ping that was sent after it.
  await new Promise<void>(resolve => session.ping(() => resolve()))
  await new Promise<void>(resolve => session.ping(() => resolve()))
  expect(hasAnswer).toBe(false)
  slot.free()
  expect((await answered)['grpc-message']).toContain('cannot%20be%20reached')
})
