import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerWritableStream,
  type UntypedHandleCall,
} from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import type { BuildCall, ImageInput } from '../../../adapters/buildkit/builder.ts'
import { connectToBuilder } from '../../../adapters/buildkit/connect.ts'
import { serviceDefinition } from '../../../adapters/buildkit/protocol.ts'
import { messagesIn } from '../../../adapters/buildkit/session/frames.ts'
import { buildCall, imageInput } from '../../support/buildkit/input.ts'
import { few, longTest } from '../../support/takes-all.ts'

// Only a faulty builder behaves like the fake one in these tests.

const signal = new AbortController().signal
const DIGEST = `sha256:${'a'.repeat(64)}`

interface Fake {
  readonly response?: Readonly<Record<string, string>>
  readonly onStatus?: (call: ServerWritableStream<unknown, unknown>) => void
}

/** Builds with a builder that answers each solve at once. */
async function buildWith(
  { response = {}, onStatus = call => call.end() }: Fake,
  input: Partial<ImageInput> = {},
  call: Partial<BuildCall> = {},
) {
  const server = new Server({ 'grpc.max_send_message_length': -1 })
  const unary =
    (answer: unknown): UntypedHandleCall =>
    (_call: unknown, done: (error: null, answer: unknown) => void) =>
      done(null, answer)
  server.addService(serviceDefinition('moby.buildkit.v1.Control'), {
    Info: unary({ buildkitVersion: { version: 'v0.20.0' } }),
    Solve: unary({ ExporterResponse: response }),
    Status: onStatus as UntypedHandleCall,
    Session: ((session: ServerDuplexStream<unknown, unknown>) => session.resume()) as UntypedHandleCall,
  })
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  )
  const builder = await connectToBuilder(`tcp://127.0.0.1:${port}`, { signal })
  try {
    return await builder.build(imageInput(input), buildCall(call))
  } finally {
    builder.close()
    server.forceShutdown()
  }
}

/** Sends events that never end. */
const endless: Fake['onStatus'] = call => {
  const timer = setInterval(() => call.write({ vertexes: [{ digest: DIGEST, name: 'x' }] }), 50)
  call.on('cancelled', () => clearInterval(timer))
}

test('a build with endless status events ends at its abort', async () => {
  const abort = new AbortController()
  const reason = new Error('stopped')
  setTimeout(() => abort.abort(reason), 500)
  await expect(buildWith({ onStatus: endless }, {}, { signal: abort.signal })).rejects.toBe(reason)
})

longTest('a build does not wait for status events that never end', async () => {
  expect(await buildWith({ onStatus: endless })).toEqual({})
})

const pushed = { output: { kind: 'registry', names: ['r.example.com/a:1'] } } as const

test.each(few([undefined, '../../x', '', 'sha256:12', `sha256:${'A'.repeat(64)}`, `${DIGEST}\n`], 2))(
  'a build refuses the invalid digest %j',
  async digest => {
    const response: Readonly<Record<string, string>> = digest === undefined ? {} : { 'containerimage.digest': digest }
    await expect(buildWith({ response }, pushed)).rejects.toMatchObject({ kind: 'refused' })
  },
)

test('a build returns the digest that the builder reports', async () => {
  expect(await buildWith({ response: { 'containerimage.digest': DIGEST } }, pushed)).toEqual({ digest: DIGEST })
})

test.each(['{', '[]', '{"digest":"../../x"}', '{"digest":7}'])(
  'a build refuses the invalid cache manifest %s',
  async manifest => {
    const dest = join(tmpdir(), 'devctl-no-such-cache')
    const input = { cacheTo: [{ type: 'local', attributes: { dest } }] }
    await expect(buildWith({ response: { 'cache.manifest': manifest } }, input)).rejects.toMatchObject({
      kind: 'refused',
    })
    expect(existsSync(dest)).toBe(false)
  },
)

test.each<readonly [string, unknown]>(
  few([
    ['a message of 40 MiB', { logs: [{ vertex: DIGEST, stream: 1, msg: Buffer.alloc(40 << 20) }] }],
    [
      'more steps than a build has',
      { vertexes: Array.from({ length: 50_001 }, (_, at) => ({ digest: `${at}`, name: 'x' })) },
    ],
  ]),
)('a build refuses %s', async (_, status) => {
  const onStatus: Fake['onStatus'] = call => call.write(status)
  await expect(buildWith({ onStatus })).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringMatching(/too large|more than 50000/),
  })
})

test('messagesIn refuses an announced message of 4 GiB', async () => {
  const messages = messagesIn(Readable.from([Buffer.from([0, 0xff, 0xff, 0xff, 0xff])]), bytes => bytes)
  await expect(messages.next()).rejects.toMatchObject({ code: 8 })
})
