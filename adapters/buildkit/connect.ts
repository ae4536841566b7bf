import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import type { ChannelOptions, Client, ClientReadableStream, ServiceError } from '@grpc/grpc-js'
import { type BuilderAddress, parseBuilderAddress } from './address.ts'
import { buildOver } from './build.ts'
import type { Builder } from './builder.ts'
import type { BuilderConnection, Control } from './connection.ts'
import { BuilderError, connectionError } from './failure.ts'
import { DEFAULT_KEEPALIVE, type Keepalive } from './keepalive.ts'
import { type BuildkitProtocol, loadProtocol } from './protocol.ts'
import { byteStream, type MessageStream } from './session/byte-stream.ts'
import type { BuildStatus } from './status.ts'

/** How to connect to a builder. */
export interface BuilderOptions {
  /** Certificates: with them, or with the scheme `https` or `tls`, the connection is encrypted. */
  readonly tls?: BuilderTls
  readonly keepalive?: Keepalive
  readonly signal: AbortSignal
  /** Milliseconds in which the builder must answer: 6 s if absent. */
  readonly answerWithin?: number
}

/** PEM. Without `ca`, the authorities that Node.js trusts. */
export interface BuilderTls {
  readonly ca?: Buffer
  /** The certificate of the client and its key. */
  readonly cert?: Buffer
  readonly key?: Buffer
  /** The name in the certificate of the builder, if it is not that of the address. */
  readonly serverName?: string
}

const ANSWER_WITHIN = 6000

/**
 * Connects to BuildKit's own address (see `parseBuilderAddress`), and checks that it answers. Throws
 * a `BuilderError`, a `UserError` for an address that is not valid, and the signal's reason.
 */
export async function connectToBuilder(address: string, options: BuilderOptions): Promise<Builder> {
  const connection = await connectToBuildkit(parseBuilderAddress(address), options)
  try {
    const version = await versionOf(connection, options)
    return {
      name: connection.name,
      ...(version !== undefined && { version }),
      build: (input, call) => buildOver(connection, input, call),
      close: () => connection.close(),
    }
  } catch (error) {
    connection.close()
    throw error
  }
}

async function versionOf(
  { name, control }: BuilderConnection,
  { signal, answerWithin = ANSWER_WITHIN }: BuilderOptions,
): Promise<string | undefined> {
  const deadline = AbortSignal.timeout(answerWithin)
  try {
    const { buildkitVersion } = await control.info(AbortSignal.any([signal, deadline]))
    return buildkitVersion?.version
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.aborted)
      throw new BuilderError('unreachable', `${name} did not answer in ${answerWithin / 1000} s`, { cause: error })
    throw connectionError(error as ServiceError, name)
  }
}

async function connectToBuildkit(address: BuilderAddress, options: BuilderOptions): Promise<BuilderConnection> {
  const protocol = await loadProtocol()
  const name = `BuildKit at \`${address.text}\``
  const ControlClient = protocol.grpc.makeGenericClientConstructor(
    protocol.service('moby.buildkit.v1.Control'),
    'Control',
  )
  const credentials = credentialsOf(protocol, address, options.tls, name)
  const client = new ControlClient(address.target, credentials, channelOptions(address, options))
  return {
    name,
    protocol,
    control: controlOf(client),
    openSession: async headers => {
      const metadata = new protocol.grpc.Metadata()
      for (const [key, value] of headers) metadata.add(key, value)
      return byteStream(client['Session']!(metadata) as MessageStream)
    },
    close: () => client.close(),
  }
}

function credentialsOf({ grpc }: BuildkitProtocol, address: BuilderAddress, tls: BuilderTls | undefined, name: string) {
  if (!address.isSecure && !tls) return grpc.credentials.createInsecure()
  const serverName = tls?.serverName ?? address.host ?? ''
  try {
    return grpc.credentials.createSsl(tls?.ca, tls?.key, tls?.cert, {
      checkServerIdentity: (_, certificate) => checkServerIdentity(serverName, certificate),
    })
  } catch (error) {
    const { message } = error as Error
    throw new BuilderError('tls', `the certificates for ${name} cannot be used: ${message}`, { cause: error })
  }
}

function channelOptions(
  { host = '' }: BuilderAddress,
  { tls, keepalive = DEFAULT_KEEPALIVE }: BuilderOptions,
): ChannelOptions {
  // TLS has no way to ask for an IP address, and Node.js warns of it.
  const serverName = tls?.serverName ?? (isIP(host) ? 'localhost' : undefined)
  return {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    // As buildctl, without a proxy; and without settings of gRPC from the DNS.
    'grpc.enable_http_proxy': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.use_local_subchannel_pool': 1,
    ...(keepalive.time !== undefined && { 'grpc.keepalive_time_ms': keepalive.time }),
    'grpc.keepalive_timeout_ms': keepalive.timeout,
    'grpc.keepalive_permit_without_calls': keepalive.permitWithoutStream ? 1 : 0,
    ...(serverName !== undefined && { 'grpc.ssl_target_name_override': serverName }),
  }
}

function controlOf(client: Client & Readonly<Record<string, unknown>>): Control {
  // The constructor adds a function for each method of the service.
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
