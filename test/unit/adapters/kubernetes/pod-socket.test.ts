import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { ClusterError } from '../../../../adapters/kubernetes/cluster.ts'
import type { Access, Connection } from '../../../../adapters/kubernetes/connection.ts'
import { openPortForward } from '../../../../adapters/kubernetes/port-forward.ts'
import { CERTIFICATE, PRIVATE_KEY } from '../../../support/gitops/certificates.ts'

/** Sends a text over a port-forward; returns what the server got, and the bytes of the connection after TLS. */
async function forwarded(scheme: 'http' | 'https', words: string): Promise<{ content: string; bytes: string }> {
  const isSecure = scheme === 'https'
  const server = isSecure ? https.createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }) : http.createServer()
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'v4.channel.k8s.io' })
  const pieces: Buffer[] = []
  server.on(isSecure ? 'secureConnection' : 'connection', (socket: Socket) => {
    const push = socket.push
    socket.push = piece => {
      if (piece) pieces.push(Buffer.from(piece))
      return push.call(socket, piece)
    }
  })
  const content = new Promise<string>(resolve =>
    sockets.on('connection', socket => socket.on('message', (data: Buffer) => resolve(data.subarray(1).toString()))),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.close()
  })
  const streams = isSecure ? new https.Agent({ rejectUnauthorized: false }) : new http.Agent()
  const access: Access = {
    server: new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`),
    connect: async () => ({ headers: {}, calls: streams, streams }),
  }
  const stream = await openPortForward(access, { pod: 'p', namespace: 'n', port: 1 })
  stream.write(words)
  const got = await content
  stream.destroy()
  return { content: got, bytes: Buffer.concat(pieces).toString('latin1') }
}

test('openPortForward starts a handshake again that gets no answer', async () => {
  const server = http.createServer()
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v4.channel.k8s.io' })
  const open: Socket[] = []
  server.on('upgrade', (request, socket: Socket, head) => {
    open.push(socket)
    if (open.length > 1) sockets.handleUpgrade(request, socket, head, () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const streams = new http.Agent()
  const access: Access = {
    server: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    connect: async () => ({ headers: {}, calls: streams, streams }),
  }
  const began = performance.now()
  const stream = await openPortForward(access, { pod: 'p', namespace: 'n', port: 1 }, {}, { first: [100, 200] })
  expect(performance.now() - began).toBeLessThan(20_000)
  expect(open).toHaveLength(2)
  expect(open[0]!.destroyed || open[0]!.readableEnded).toBe(true)
  stream.destroy()
})

test('a login that fails is not repeated for a port forward', async () => {
  let count = 0
  const connect = async () => {
    count++
    throw new ClusterError('unauthorized', 'the plugin has failed')
  }
  const opening = openPortForward(
    { server: new URL('http://127.0.0.1:1'), connect },
    { pod: 'p', namespace: 'n', port: 1 },
  )
  await expect(opening).rejects.toThrow('the plugin has failed')
  expect(count).toBe(1)
})

test('a port forward whose signal is aborted does not wait for a login', async () => {
  const connect = () => new Promise<Connection>(() => {})
  const signal = AbortSignal.timeout(20)
  const access = { server: new URL('http://127.0.0.1:1'), connect }
  const opening = openPortForward(access, { pod: 'p', namespace: 'n', port: 1 }, { signal })
  await expect(opening).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('a port forward with refused credentials passes them on to be renewed', async () => {
  const server = http.createServer((_, response) => response.writeHead(401).end())
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const asked: unknown[] = []
  const connection = { headers: {}, calls: new http.Agent(), streams: new http.Agent() }
  const access: Access = {
    server: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    connect: async rejected => {
      asked.push(rejected)
      return connection
    },
  }
  const opening = openPortForward(access, { pod: 'p', namespace: 'n', port: 1 })
  await expect(opening).rejects.toMatchObject({ failure: 'unauthorized', status: 401 })
  expect(asked).toEqual([undefined, connection])
})

test('contents are masked for proxies that can read them, and only for those', async () => {
  const words = 'contents of a file, '.repeat(20)
  const plain = await forwarded('http', words)
  expect(plain.content).toBe(words)
  expect(plain.bytes).not.toContain(words)
  const secure = await forwarded('https', words)
  expect(secure.content).toBe(words)
  expect(secure.bytes).toContain(words)
})
