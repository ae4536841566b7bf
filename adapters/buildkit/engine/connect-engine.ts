import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ChannelCredentials } from '@grpc/grpc-js'
import { parseJson } from '../../json/parse-json.ts'
import type { Builder } from '../builder.ts'
import { type BuilderConnection, connectedAgain } from '../connection.ts'
import { channelOptions, controlOf } from '../control.ts'
import { BuilderError, reasonOf } from '../failure.ts'
import { ANSWER_WITHIN, type BuilderOptions } from '../options.ts'
import { type Grpc, loadGrpc, serviceDefinition } from '../protocol.ts'
import { credentialsOver, discard, placeholderTarget } from '../stream-channel.ts'
import { engineVersion } from './answers.validators.ts'
import { callEngine, textOf } from './api.ts'
import { buildInEngine } from './build-in-engine.ts'
import { type EngineEndpoint, openConnection, secure, targetOf } from './endpoint.ts'
import { upgrade } from './upgrade.ts'

/** Response timeout over SSH, in milliseconds: `ssh` may use jump hosts and prompt the user. */
const SSH_ANSWER_WITHIN = 30_000
/** Oldest API version with BuildKit and sessions (Docker 18.09). */
const OLDEST_API = '1.39'

/**
 * Connects to the BuildKit inside a Docker Engine, and checks that it responds. Throws a `BuilderError` if the engine
 * cannot be used, or the signal's abort reason.
 */
export async function connectToEngine(
  endpoint: EngineEndpoint,
  options: Pick<BuilderOptions, 'signal' | 'keepalive' | 'answerWithin'>,
): Promise<Builder> {
  const name = `the Docker Engine at \`${endpoint.text}\``
  const version = await versionOf(endpoint, name, options)
  const connection = await connectionTo(endpoint, name, await loadGrpc(), options)
  return {
    name,
    ...(version !== undefined && { version }),
    build: (input, call) => buildInEngine({ endpoint, version, connection }, input, call),
    back: signal => connectedAgain(connection, signal),
    close: () => connection.close(),
  }
}

async function versionOf(
  endpoint: EngineEndpoint,
  name: string,
  {
    signal,
    answerWithin = 'ssh' in endpoint.at ? SSH_ANSWER_WITHIN : ANSWER_WITHIN,
  }: Pick<BuilderOptions, 'signal' | 'answerWithin'>,
): Promise<string | undefined> {
  const deadline = AbortSignal.timeout(answerWithin)
  const within = { signal: AbortSignal.any([signal, deadline]) }
  try {
    const ping = await callEngine(endpoint, 'GET', '/_ping', within)
    await textOf(ping)
    const api = String(ping.headers['api-version'])
    if (ping.status !== 200 || !/^\d+\.\d+$/.test(api)) throw new BuilderError('refused', `${name} is another program`)
    if (versionNumber(api) < versionNumber(OLDEST_API))
      throw new BuilderError('too-old', `${name} is older than 18.09: its API has version ${api}`)
    const version = parseJson(await textOf(await callEngine(endpoint, 'GET', '/version', within)), engineVersion)
    return version.ok ? version.value.Version : undefined
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BuilderError) throw error
    if (deadline.aborted)
      throw new BuilderError('unreachable', `${name} did not answer in ${answerWithin / 1000} s`, { cause: error })
    const { code = '', message } = error as NodeJS.ErrnoException
    const [kind, text] = reasonOf(`${code} ${message}`.trim())
    throw new BuilderError(kind, `no connection to ${name}: ${text}`, { cause: error })
  }
}

/** Converts a version such as `1.39` to a number that can be compared. */
function versionNumber(text: string): number {
  const [major = 0, minor = 0] = text.split('.').map(Number)
  return major * 1000 + minor
}

async function connectionTo(
  endpoint: EngineEndpoint,
  name: string,
  grpc: Grpc,
  options: Pick<BuilderOptions, 'signal' | 'keepalive'>,
): Promise<BuilderConnection> {
  const { target, stop } = await targetFor(endpoint)
  const ControlClient = grpc.makeGenericClientConstructor(serviceDefinition('moby.buildkit.v1.Control'), 'Control')
  const client = new ControlClient(target, credentialsFor(grpc, endpoint), channelOptions({}, options))
  return {
    name,
    control: controlOf(client),
    openSession: async (headers, signal) =>
      upgrade(await openConnection(endpoint, signal), '/session', signal, headers),
    close: () => {
      client.close()
      stop()
    },
  }
}

/**
 * Returns the address that gRPC connects to (`target`), and a function that frees the address (`stop`). Over `ssh`,
 * gRPC connects to a placeholder, and `usable` replaces that connection.
 */
async function targetFor(endpoint: EngineEndpoint): Promise<{ readonly target: string; readonly stop: () => void }> {
  const target = targetOf(endpoint)
  return target === undefined ? placeholderTarget() : { target, stop: () => {} }
}

/**
 * Returns gRPC credentials that turn a connection to the engine into a connection to the BuildKit inside the engine.
 */
const credentialsFor = (grpc: Grpc, endpoint: EngineEndpoint): ChannelCredentials =>
  credentialsOver(grpc, async socket => upgrade(await usable(endpoint, socket), '/grpc'))

/**
 * Returns the connection that gRPC opened, encrypted if the endpoint uses TLS. Over `ssh`, closes that connection, and
 * opens and returns a new connection to the engine instead.
 */
async function usable(endpoint: EngineEndpoint, socket: Socket): Promise<Duplex> {
  if (!('ssh' in endpoint.at)) return secure(endpoint, socket)
  discard(socket)
  return openConnection(endpoint)
}
