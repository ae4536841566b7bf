import { isIP } from 'node:net'
import type { ChannelOptions, ClientReadableStream, ServiceClientConstructor, ServiceError } from '@grpc/grpc-js'
import type { BuilderAddress } from './address.ts'
import type { Control } from './connection.ts'
import { DEFAULT_KEEPALIVE } from './keepalive.ts'
import { type BuilderOptions, LARGEST_MESSAGE } from './options.ts'
import type { BuildStatus } from './status.ts'

/** First and longest interval between attempts to connect, in milliseconds. */
const RECONNECT = [500, 2000] as const

/**
 * Returns the gRPC settings for a connection to a builder. `host` is the host in the address of the builder; absent for
 * a Unix socket.
 */
export function channelOptions(
  { host = '' }: Pick<BuilderAddress, 'host'>,
  { tls, keepalive = DEFAULT_KEEPALIVE }: Pick<BuilderOptions, 'tls' | 'keepalive'>,
): ChannelOptions {
  // The TLS server name cannot be an IP address; Node.js warns if it is.
  const serverName = tls?.serverName ?? (isIP(host) ? 'localhost' : undefined)
  return {
    'grpc.max_receive_message_length': LARGEST_MESSAGE,
    'grpc.max_send_message_length': -1,
    // Like buildctl: no proxy, and no gRPC service configuration from DNS.
    'grpc.enable_http_proxy': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.use_local_subchannel_pool': 1,
    // A short backoff, so that a restarted daemon is noticed soon.
    'grpc.initial_reconnect_backoff_ms': RECONNECT[0],
    'grpc.max_reconnect_backoff_ms': RECONNECT[1],
    ...(keepalive.time !== undefined && { 'grpc.keepalive_time_ms': keepalive.time }),
    'grpc.keepalive_timeout_ms': keepalive.timeout,
    'grpc.keepalive_permit_without_calls': keepalive.permitWithoutStream ? 1 : 0,
    ...(serverName !== undefined && { 'grpc.ssl_target_name_override': serverName }),
  }
}

/** A client of the service `Control`, as created by gRPC. */
export type ControlClient = InstanceType<ServiceClientConstructor>

/** Returns the RPCs of a gRPC client for the service `Control`. */
export function controlOf(client: ControlClient): Control {
  // The constructor adds a function for each RPC of the service.
  const calls = client as unknown as {
    Info: Unary
    Solve: Unary
    Status: (request: unknown) => ClientReadableStream<BuildStatus>
  }
  return {
    info: signal => answerOf(done => calls.Info({}, done), signal),
    solve: (request, signal) => answerOf(done => calls.Solve(request, done), signal),
    status: request => calls.Status(request),
    connected: (deadline, signal) => ending(done => client.waitForReady(deadline, done), signal),
  }
}

type Done = (error: ServiceError | null, answer: unknown) => void
type Unary = (request: unknown, done: Done) => { cancel(): void }

/** Makes a call and returns the response. Aborting the signal cancels the call. */
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

/** Waits for an operation that cannot be cancelled; the signal ends only the wait. */
function ending(wait: (done: (error?: Error) => void) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    wait(error => {
      signal.removeEventListener('abort', stop)
      if (error) reject(error)
      else resolve()
    })
  })
}
