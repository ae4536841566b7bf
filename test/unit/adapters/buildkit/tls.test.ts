import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectToBuilder } from '../../../../adapters/buildkit/connect.ts'
import { connectToEngine } from '../../../../adapters/buildkit/engine/connect-engine.ts'
import { parseEngineAddress } from '../../../../adapters/buildkit/engine/endpoint.ts'
import type { BuilderTls } from '../../../../adapters/buildkit/options.ts'
import { loadGrpc, serviceDefinition } from '../../../../adapters/buildkit/protocol.ts'
import { CERTIFICATE, OTHER_CERTIFICATE, PRIVATE_KEY } from '../../../support/gitops/certificates.ts'

const signal = new AbortController().signal
const ca = Buffer.from(CERTIFICATE)
const key = Buffer.from(PRIVATE_KEY)
/** The name in the certificate. */
const serverName = 'registry.example.com'

let stop = () => {}
const ports = { buildkit: 0, engine: 0 }

beforeAll(async () => {
  const grpc = await loadGrpc()
  const buildkit = new grpc.Server()
  const info = (_: unknown, done: (error: null, answer: unknown) => void) =>
    done(null, { buildkitVersion: { version: 'v0.99' } })
  buildkit.addService(serviceDefinition('moby.buildkit.v1.Control'), { Info: info })
  const credentials = grpc.ServerCredentials.createSsl(ca, [{ private_key: key, cert_chain: ca }], true)
  ports.buildkit = await new Promise<number>((resolve, reject) =>
    buildkit.bindAsync('127.0.0.1:0', credentials, (error, port) => (error ? reject(error) : resolve(port))),
  )
  const settings = { ca, cert: ca, key, requestCert: true, rejectUnauthorized: true }
  const engine = createServer(settings, (_, response) => response.setHeader('Api-Version', '1.47').end('{}'))
  await new Promise<void>(resolve => engine.listen(0, '127.0.0.1', resolve))
  ports.engine = (engine.address() as AddressInfo).port
  stop = () => {
    buildkit.forceShutdown()
    engine.close()
  }
})
afterAll(() => stop())

const connections: readonly (readonly [string, (tls: BuilderTls) => Promise<{ close(): void }>])[] = [
  ['BuildKit', tls => connectToBuilder(`tcp://127.0.0.1:${ports.buildkit}`, { signal, tls })],
  ['a Docker Engine', tls => connectToEngine(parseEngineAddress(`tcp://127.0.0.1:${ports.engine}`, tls), { signal })],
]

test.each(connections)('%s accepts a TLS connection with the right certificates', async (_, connect) => {
  const builder = await connect({ ca, cert: ca, key, serverName })
  builder.close()
})

test.each(
  connections.flatMap(([name, connect]) => [
    [name, 'whose authority is not trusted', connect, { cert: ca, key, serverName }] as const,
    [
      name,
      'with another authority',
      connect,
      { ca: Buffer.from(OTHER_CERTIFICATE), cert: ca, key, serverName },
    ] as const,
    [name, 'whose certificate has another name', connect, { ca, cert: ca, key }] as const,
    [name, 'that asks for a client certificate', connect, { ca, serverName }] as const,
  ]),
)('a TLS connection to %s %s fails', async (_, __, connect, tls) => {
  const failure = await connect(tls).catch((error: unknown) => error)
  expect(failure).toMatchObject({
    kind: 'tls',
    message: expect.stringMatching(/^no connection to .* at `tcp:\/\/127\.0\.0\.1:\d+`: [a-z]/i),
  })
})
