import { checkServerIdentity } from 'node:tls'
import type { ServiceError } from '@grpc/grpc-js'
import { type BuilderAddress, parseBuilderAddress } from './address.ts'
import { buildOver } from './build.ts'
import type { Builder } from './builder.ts'
import { type BuilderConnection, connectedAgain } from './connection.ts'
import { channelOptions, controlOf } from './control.ts'
import { connectToEngine } from './engine/connect-engine.ts'
import { findEngine } from './engine/find-engine.ts'
import { BuilderError, connectionError } from './failure.ts'
import { ANSWER_WITHIN, type BuilderOptions, type BuilderTls } from './options.ts'
import { type Grpc, loadGrpc, serviceDefinition } from './protocol.ts'
import { byteStream, type MessageStream } from './session/byte-stream.ts'

/** Stands for the engine that the command `docker` uses. */
const DOCKER = 'docker'

/**
 * Connects to BuildKit's own address (see `parseBuilderAddress`), or for `docker` to the Docker
 * Engine (see `findEngine`), and checks that it answers. Throws a `BuilderError`, a `UserError` for
 * an address that is not valid, and the signal's reason.
 */
export async function connectToBuilder(address: string, options: BuilderOptions): Promise<Builder> {
  if (address === DOCKER) return connectToEngine(await findEngine(options.env ?? process.env), options)
  const connection = await connectToBuildkit(parseBuilderAddress(address), options)
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
  const client = new ControlClient(address.target, credentials, channelOptions(address, options))
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
