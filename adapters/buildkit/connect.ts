import type { Duplex } from 'node:stream'
import type { ChannelOptions, Client, ClientReadableStream, ServiceError } from '@grpc/grpc-js'
import { type BuildkitProtocol, loadProtocol } from './protocol.ts'
import { byteStream, type MessageStream } from './session/byte-stream.ts'
import type { BuildSession } from './session/session.ts'
import type { BuildStatus } from './status.ts'

/** A builder that answers. */
export interface BuilderConnection {
  readonly protocol: BuildkitProtocol
  readonly control: Control
  /** Opens the connection over which the builder calls back. */
  readonly openSession: (headers: BuildSession['headers']) => Promise<Duplex>
  close(): void
}

/** The calls of a builder (`moby.buildkit.v1.Control`). */
export interface Control {
  info(signal: AbortSignal): Promise<{ readonly buildkitVersion?: { readonly version?: string } }>
  solve(
    request: unknown,
    signal: AbortSignal,
  ): Promise<{ readonly ExporterResponse?: Readonly<Record<string, string>> }>
  status(request: { readonly Ref: string }): ClientReadableStream<BuildStatus>
}

/** Where BuildKit listens: `host:port`, or `unix:///path`, as gRPC takes it. */
export interface BuilderAddress {
  readonly target: string
  readonly tls?: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer }
}

/** How an idle connection is kept, in milliseconds (https://grpc.io/docs/guides/keepalive/). */
export interface Keepalive {
  readonly time?: number
  readonly timeout: number
  readonly permitWithoutStream: boolean
}

/** Connects to BuildKit's own address. Nothing is sent before the first call. */
export async function connectToBuildkit(address: BuilderAddress, keepalive: Keepalive): Promise<BuilderConnection> {
  const protocol = await loadProtocol()
  const { grpc } = protocol
  const { tls } = address
  const credentials = tls ? grpc.credentials.createSsl(tls.ca, tls.key, tls.cert) : grpc.credentials.createInsecure()
  const service = protocol.service('moby.buildkit.v1.Control')
  const ControlClient = grpc.makeGenericClientConstructor(service, 'Control')
  const client = new ControlClient(address.target, credentials, channelOptions(keepalive))
  return {
    protocol,
    control: controlOf(client),
    openSession: async headers => {
      const metadata = new grpc.Metadata()
      for (const [name, value] of headers) metadata.add(name, value)
      return byteStream(client['Session']!(metadata) as MessageStream)
    },
    close: () => client.close(),
  }
}

const channelOptions = ({ time, timeout, permitWithoutStream }: Keepalive): ChannelOptions => ({
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  ...(time !== undefined && { 'grpc.keepalive_time_ms': time }),
  'grpc.keepalive_timeout_ms': timeout,
  'grpc.keepalive_permit_without_calls': permitWithoutStream ? 1 : 0,
})

function controlOf(client: Client & Readonly<Record<string, unknown>>): Control {
  const calls = client as unknown as {
    Info: Unary
    Solve: Unary
    Status: (request: unknown) => ClientReadableStream<BuildStatus>
  }
  return {
    info: signal => answerOf(done => calls.Info({}, done), signal),
    solve: (request, signal) => answerOf(done => calls.Solve(request, done), signal),
    status: request => calls.Status(request),
  }
}

type Done = (error: ServiceError | null, answer: unknown) => void
type Unary = (request: unknown, done: Done) => { cancel(): void }

/** The answer of a call that ends with the signal. */
function answerOf<Answer>(call: (done: Done) => { cancel(): void }, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const running = call((error, answer) => {
      signal.removeEventListener('abort', cancel)
      if (error) reject(signal.aborted ? signal.reason : error)
      else resolve(answer as Answer)
    })
    const cancel = () => running.cancel()
    signal.addEventListener('abort', cancel, { once: true })
  })
}
