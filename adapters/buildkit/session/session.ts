import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { handleUnaryCall, Metadata, ServerDuplexStream, UntypedServiceImplementation } from '@grpc/grpc-js'
import { type Packet, type Sent, sendFiles } from '../files/send.ts'
import type { BuildkitProtocol } from '../protocol.ts'

/** What a build may ask of the machine that runs devctl. */
export interface SessionResources {
  /** Folders by the names of the solve: `context`, `dockerfile`, and those of `additional_contexts`. */
  readonly folders: ReadonlyMap<string, string>
  /** The content of secrets by their ids, read when they are asked for. Undefined: there is none. */
  readonly secret: (id: string) => Promise<Uint8Array | undefined>
  /** The login of a registry; undefined: without. */
  readonly credentials: (registry: string) => Promise<Login | undefined>
  /** Tells how much of a folder was sent. */
  readonly onSent?: (folder: string, sent: Sent) => void
}

export interface Login {
  readonly username: string
  readonly secret: string
}

/** A session: what BuildKit calls back while it builds. */
export interface BuildSession {
  readonly id: string
  /** Announces the session, in the call that it is tunnelled through, or in the headers of the Docker Engine's upgrade. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Serves the calls that come over a connection, until the session is closed. */
  serve(connection: Duplex): void
  close(): void
}

const FILE_SYNC = 'moby.filesync.v1.FileSync'
const AUTH = 'moby.filesync.v1.Auth'
const SECRETS = 'moby.buildkit.secrets.v1.Secrets'
const HEALTH = 'grpc.health.v1.Health'

/** Codes of gRPC, and the state of a server that is well. */
const NOT_FOUND = 5
const UNKNOWN = 2
const SERVING = 1

/** Makes the session of a build. `sharedKey` names the folder, so that the next build of it sends what has changed only. */
export function createSession(
  { grpc, service }: BuildkitProtocol,
  resources: SessionResources,
  sharedKey: string,
): BuildSession {
  const id = randomUUID().replaceAll('-', '')
  const server = new grpc.Server({ 'grpc.max_receive_message_length': -1 })
  const services: Readonly<Record<string, UntypedServiceImplementation>> = {
    [HEALTH]: { Check: unary(async () => ({ status: SERVING })) },
    [FILE_SYNC]: { DiffCopy: (call: ServerDuplexStream<Packet, Packet>) => void syncFolder(call, resources) },
    [AUTH]: {
      Credentials: unary<{ Host?: string }>(({ Host = '' }) => credentialsOf(Host, resources)),
    },
    [SECRETS]: {
      GetSecret: unary<{ ID?: string }>(({ ID = '' }) => secretOf(ID, resources)),
    },
  }
  for (const [name, implementation] of Object.entries(services)) server.addService(service(name), implementation)
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure())
  const methods = Object.entries(services).flatMap(([name, implementation]) =>
    Object.keys(implementation).map(method => `/${name}/${method.toLowerCase()}`),
  )
  return {
    id,
    headers: [
      ['x-docker-expose-session-uuid', id],
      ['x-docker-expose-session-name', 'devctl'],
      ['x-docker-expose-session-sharedkey', sharedKey],
      ...methods.map(method => ['x-docker-expose-session-grpc-method', method] as const),
    ],
    serve: connection => injector.injectConnection(connection),
    close: () => server.forceShutdown(),
  }
}

/** Answers calls of one message with one message. */
function unary<Request>(answer: (request: Request) => Promise<unknown>): handleUnaryCall<Request, unknown> {
  return (call, done) => {
    answer(call.request).then(
      response => done(null, response),
      (error: Error & { code?: number }) =>
        done({ code: error.code === NOT_FOUND ? NOT_FOUND : UNKNOWN, details: error.message }),
    )
  }
}

async function credentialsOf(registry: string, { credentials }: SessionResources) {
  const login = await credentials(registry)
  return { Username: login?.username ?? '', Secret: login?.secret ?? '' }
}

async function secretOf(id: string, { secret }: SessionResources) {
  const data = await secret(id)
  if (data) return { data }
  throw Object.assign(new Error(`secret ${id} is not set`), { code: NOT_FOUND })
}

/** Answers a call for the files of a folder. */
async function syncFolder(call: ServerDuplexStream<Packet, Packet>, resources: SessionResources): Promise<void> {
  const name = valuesOf(call.metadata, 'dir-name')?.[0] ?? ''
  const root = resources.folders.get(name)
  if (root === undefined) {
    call.destroy(Object.assign(new Error(`no folder ${name} is part of the build`), { code: NOT_FOUND }))
    return
  }
  const include = valuesOf(call.metadata, 'include-patterns')
  const exclude = valuesOf(call.metadata, 'exclude-patterns')
  const followPaths = valuesOf(call.metadata, 'followpaths')
  const selection = { ...(include && { include }), ...(exclude && { exclude }), ...(followPaths && { followPaths }) }
  const stream = {
    // To stop reading is not to end the call.
    received: call.iterator({ destroyOnReturn: false }) as AsyncIterable<Packet>,
    send: (packet: Packet) =>
      new Promise<void>((resolve, reject) => {
        if (call.destroyed) reject(new Error('the builder has closed the connection'))
        else call.write(packet, (error?: Error | null) => (error ? reject(error) : resolve()))
      }),
  }
  try {
    await sendFiles(root, selection, stream, sent => resources.onSent?.(name, sent))
    call.end()
  } catch (error) {
    call.destroy(error as Error)
  }
}

/** The values of a header; texts beyond ASCII are percent-encoded, which a header of its own says. */
function valuesOf(metadata: Metadata, key: string): readonly string[] | undefined {
  // Node joins the values of a header that comes several times.
  const values = metadata.get(key).flatMap(value => String(value).split(', '))
  if (values.length === 0) return undefined
  const isEncoded = metadata.get(`${key}-encoded`).length > 0
  return isEncoded ? values.map(value => decodeURIComponent(value.replaceAll('+', ' '))) : values
}
