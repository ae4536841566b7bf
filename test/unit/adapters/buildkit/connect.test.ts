import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { expect, test } from 'vitest'
import { connectToBuilder } from '../../../../adapters/buildkit/connect.ts'
import { buildCall, imageInput } from '../../../support/buildkit/input.ts'

const signal = new AbortController().signal
/** Milliseconds for servers that answer, and for one that does not. */
const [LONG, SHORT] = [60_000, 300]

/** Returns the failures of connecting to a server, by BuildKit's own address and as a Docker Engine. */
async function failuresAt(
  server: Server,
  { scheme = 'tcp', answerWithin = LONG } = {},
): Promise<readonly [buildkit: unknown, engine: unknown]> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
  const options = { signal, answerWithin }
  const failure = (connecting: Promise<unknown>) => connecting.catch((error: unknown) => error)
  try {
    return await Promise.all([
      failure(connectToBuilder(address, options)),
      failure(connectToBuilder('docker', { ...options, env: { DOCKER_HOST: address } })),
    ])
  } finally {
    server.close()
  }
}

test('connectToBuilder gives up a server that does not answer', async () => {
  for (const failure of await failuresAt(
    createServer(() => {}),
    { answerWithin: SHORT },
  )) {
    expect(failure).toMatchObject({ kind: 'unreachable', isTransient: false })
    expect((failure as Error).message).toMatch(/at `tcp:\/\/127\.0\.0\.1:\d+` did not answer in 0.3 s/)
  }
})

test('connectToBuilder reports a server that closes the connection', async () => {
  for (const failure of await failuresAt(createServer(socket => socket.destroy())))
    expect(failure).toMatchObject({ kind: 'unreachable', message: expect.stringMatching(/^no connection to /) })
})

test('connectToBuilder refuses a web server', async () => {
  const server = createHttpServer((_, response) => response.end('<html>'))
  for (const failure of await failuresAt(server)) expect(failure).toMatchObject({ kind: 'refused' })
})

test('connectToBuilder reports a server without TLS', async () => {
  const server = createServer(socket => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
  for (const failure of await failuresAt(server, { scheme: 'https' }))
    expect(failure).toMatchObject({ kind: 'tls', message: expect.stringContaining('it does not use TLS') })
})

test('connectToBuilder refuses an engine whose API is too old', async () => {
  const server = createHttpServer((_, response) => response.setHeader('Api-Version', '1.38').end('OK'))
  const [, failure] = await failuresAt(server)
  expect(failure).toMatchObject({ kind: 'too-old', message: expect.stringContaining('is older than 18.09') })
})

test('connectToBuilder reports a socket that does not exist', async () => {
  const failure = (address: string) => connectToBuilder(address, { signal }).catch((error: unknown) => error)
  expect(await failure('unix:///nothing/here.sock')).toMatchObject({
    kind: 'unreachable',
    message: 'no connection to BuildKit at `unix:///nothing/here.sock`: the socket does not exist',
  })
  const env = { DOCKER_HOST: 'unix:///nothing/here.sock' }
  expect(await connectToBuilder('docker', { signal, env }).catch((error: unknown) => error)).toMatchObject({
    kind: 'unreachable',
    message: 'no connection to the Docker Engine at `unix:///nothing/here.sock`: the socket does not exist',
  })
})

test('connectToBuilder refuses an invalid certificate', async () => {
  const tls = { ca: Buffer.from('x'), cert: Buffer.from('y'), key: Buffer.from('z') }
  const failure = await connectToBuilder('tcp://127.0.0.1:1', { signal, tls }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ kind: 'tls' })
})

test('a build with a silent engine ends at its abort', async () => {
  const abort = new AbortController()
  const reason = new Error('stopped')
  const server = createHttpServer((_, response) => response.setHeader('Api-Version', '1.47').end('{}'))
  server.on('upgrade', () => setImmediate(() => abort.abort(reason)))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const env = { DOCKER_HOST: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}` }
  const builder = await connectToBuilder('docker', { signal, env })
  await expect(builder.build(imageInput({}), buildCall({ signal: abort.signal }))).rejects.toBe(reason)
  builder.close()
  server.closeAllConnections()
  server.close()
})

test('a build with an engine that has stopped is a lost connection', async () => {
  const server = createHttpServer((_, response) => response.setHeader('Api-Version', '1.47').end('{}'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const env = { DOCKER_HOST: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}` }
  const builder = await connectToBuilder('docker', { signal, env })
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  const failure = await builder.build(imageInput({}), buildCall()).catch((error: unknown) => error)
  expect(failure).toMatchObject({ kind: 'lost', isTransient: true })
  builder.close()
})

test('an abort ends connectToBuilder with its reason', async () => {
  const abort = new AbortController()
  const reason = new Error('stopped')
  const server = createServer(() => abort.abort(reason))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(connectToBuilder(address, { signal: abort.signal })).rejects.toBe(reason)
  server.close()
})
