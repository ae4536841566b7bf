import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { checkServerIdentity } from 'node:tls'
import type { ServiceError } from '@grpc/grpc-js'
import { type BuilderAddress, parseBuilderAddress } from './address.ts'
import { buildOver } from './build.ts'
import type { Builder } from './builder.ts'
import { type BuilderConnection, connectedAgain } from './connection.ts'
import { type ControlClient, channelOptions, controlOf } from './control.ts'
import { connectToEngine } from './engine/connect-engine.ts'
import { findEngine } from './engine/find-engine.ts'
import { BuilderError, connectionError } from './failure.ts'
import { ANSWER_WITHIN, type BuilderOptions, type BuilderTls } from './options.ts'
import { type Grpc, loadGrpc, serviceDefinition } from './protocol.ts'
import { credentialsOver, discard, placeholderTarget } from './stream-channel.ts'

/** Address that selects the engine of the `docker` command. */
const DOCKER = 'docker'

/**
 * Connects to a BuildKit address (see `parseBuilderAddress`), or to the Docker Engine if the address is `docker` (see
 * `findEngine`), and checks that the builder responds. Throws a `BuilderError` if the builder cannot be used, a
 * `UserError` for an invalid address, or the signal's abort reason.
 */
export async function connectToBuilder(address: string, options: BuilderOptions): Promise<Builder> {
  if (address === DOCKER) return connectToEngine(await findEngine(options.env ?? process.env), options)
  return answered(await connectToBuildkit(parseBuilderAddress(address), options), options)
}

/** Describes how to reach a builder: the caller opens the connections. */
export interface BuilderRoute {
  /** Name of the builder in messages. */
  readonly name: string
  /** Opens a connection to BuildKit. */
  readonly open: () => Promise<Socket>
  /**
   * Returns true if `open` would reject with the error every time. The error is then final: `open` is not called again.
   */
  readonly isFinal: (error: unknown) => boolean
}

/**
 * Connects to BuildKit over connections that the caller opens, and checks that it responds: see `connectToBuilder`. If
 * the first connection cannot be opened, rejects with the error of `open`.
 */
export async function connectOver(
  { name, open, isFinal }: BuilderRoute,
  options: Omit<BuilderOptions, 'tls' | 'env'>,
): Promise<Builder> {
  const grpc = await loadGrpc()
  let first: Socket | undefined = await open()
  let onFinal = (_: unknown) => {}
  const { target, stop } = await placeholderTarget()
  const credentials = credentialsOver(grpc, async opened => {
    discard(opened)
    const connection = first
    first = undefined
    if (connection && !connection.destroyed) return connection
    return open().catch(error => {
      if (isFinal(error)) onFinal(error)
      throw error
    })
  })
  const ControlClient = grpc.makeGenericClientConstructor(serviceDefinition('moby.buildkit.v1.Control'), 'Control')
  const connection = connectionOf(grpc, name, new ControlClient(target, credentials, channelOptions({}, options)))
  const close = () => {
    connection.close()
    first?.destroy()
    stop()
  }
  const builder = await answered({ ...connection, close }, options)
  return {
    ...builder,
    async back(signal) {
      const refused = new AbortController()
      onFinal = error => refused.abort(error)
      await builder.back(AbortSignal.any([signal, refused.signal]))
    },
  }
}

async function answered(connection: BuilderConnection, options: BuilderOptions): Promise<Builder> {
  try {
    const version = await versionOf(connection, options)
    return {
      name: connection.name,
      ...(version !== undefined && { version }),
      build: (input, call) => buildOver(connection, input, call),
      back: signal => connectedAgain(connection, signal),
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
  const grpc = await loadGrpc()
  const name = `BuildKit at \`${address.text}\``
  const ControlClient = grpc.makeGenericClientConstructor(serviceDefinition('moby.buildkit.v1.Control'), 'Control')
  const credentials = credentialsOf(grpc, address, options.tls, name)
  return connectionOf(grpc, name, new ControlClient(address.target, credentials, channelOptions(address, options)))
}

function connectionOf(grpc: Grpc, name: string, client: ControlClient): BuilderConnection {
  return {
    name,
    control: controlOf(client),
    openSession: async headers => {
      const metadata = new grpc.Metadata()
      for (const [key, value] of headers) metadata.add(key, value)
      return byteStream(client['Session']!(metadata) as MessageStream)
    },
    close: () => client.close(),
  }
}

function credentialsOf(grpc: Grpc, address: BuilderAddress, tls: BuilderTls | undefined, name: string) {
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

/** Wraps a message stream as a stream of bytes, because BuildKit tunnels the session connection through an RPC. */
export function byteStream(messages: MessageStream): Duplex {
  const stream = new Duplex({
    read: () => messages.resume(),
    write: (chunk: Buffer, _, done) => messages.write({ data: chunk }, done),
    writev: (chunks, done) => messages.write({ data: chunks.map(({ chunk }) => chunk as Buffer) }, done),
    final: done => {
      messages.end()
      done()
    },
    destroy: (error, done) => {
      messages.cancel()
      done(error)
    },
  })
  messages.on('data', ({ data }) => {
    if (data && data.length > 0 && !stream.push(data)) messages.pause()
  })
  messages.on('end', () => stream.push(null))
  messages.on('error', error => stream.destroy(error))
  return stream
}

/** A stream of messages that contain bytes. */
export interface MessageStream {
  /** Sends a message; its bytes may be in several chunks. */
  write(message: { data: Uint8Array | readonly Uint8Array[] }, done: (error?: Error | null) => void): void
  end(): void
  cancel(): void
  on(event: 'data', listener: (message: { data?: Uint8Array }) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  pause(): void
  resume(): void
}
