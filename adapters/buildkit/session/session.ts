import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { BlobStore } from '../content/blob-store.ts'
import { contentHandlers } from '../content/content-service.ts'
import { FileChanged } from '../files/changed.ts'
import type { SyncedFolder } from '../files/folder.ts'
import { type Packet, sendFiles } from '../files/send.ts'
import { serviceDefinition } from '../protocol.ts'
import { agentMessages, type SshAgent } from '../ssh/agent.ts'
import { string } from '../ssh/wire.ts'
import { CallError, NOT_FOUND } from './call-error.ts'
import { createRpcServer, type Handler, type IncomingCall, unary } from './rpc-server.ts'
import { dataOf, receiveArchive } from './upload.ts'

/** Resources of this machine that a build may use. */
export interface SessionResources {
  /** Folders by their names in the solve request: `context`, `dockerfile`, and the names of `additional_contexts`. */
  readonly folders: ReadonlyMap<string, SyncedFolder>
  /** Called when a file of the folders has changed since it was announced. The transfer of the folder then fails. */
  readonly onChange?: (change: FileChanged) => void
  /**
   * Returns the content of the secret with the given id; undefined if the secret does not exist. Called when the
   * builder requests the secret. A secret that is not requested is never read.
   */
  readonly secret: (id: string) => Promise<Uint8Array | undefined>
  /** Returns the login for a registry; undefined means anonymous. */
  readonly credentials: (registry: string) => Promise<Login | undefined>
  /** SSH agents by their ids. */
  readonly agents: ReadonlyMap<string, SshAgent>
  /** Blob folders of caches and images, by the builder's names for them. */
  readonly stores: ReadonlyMap<string, BlobStore>
  /** Path of the archive to write, if the result is an archive. */
  readonly archive?: string
}

/** Login of a registry. If the username is empty, the secret is an identity token. */
export interface Login {
  readonly username: string
  readonly secret: string
}

/** A session: the services of the client that BuildKit calls during a build. */
export interface BuildSession {
  readonly id: string
  /**
   * Headers that announce the session. They are sent with the RPC that tunnels the session, or with the connection
   * upgrade to a Docker Engine.
   */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Serves the calls that arrive over a connection, until the session is closed. */
  serve(connection: Duplex): void
  /** Ends all calls, and waits until their temporary files are removed. */
  close(): Promise<void>
}

type Handlers = Readonly<Record<string, Handler>>

const SERVING = 1

/**
 * Creates the session of a build. `sharedKey` identifies the context across builds, so that the next build sends only
 * changed files.
 */
export function createSession(resources: SessionResources, sharedKey: string): BuildSession {
  const id = randomUUID().replaceAll('-', '')
  const services = Object.entries(servicesOf(resources)).flatMap(([name, handlers]) =>
    Object.entries(handlers).map(([method, handler]) => ({ name, method, handler })),
  )
  const server = createRpcServer(
    services.map(({ name, method, handler }) => ({ method: serviceDefinition(name)[method]!, handler })),
  )
  return {
    id,
    headers: [
      ['x-docker-expose-session-uuid', id],
      ['x-docker-expose-session-name', 'devctl'],
      ['x-docker-expose-session-sharedkey', sharedKey],
      ...services.map(
        ({ name, method }) => ['x-docker-expose-session-grpc-method', `/${name}/${method.toLowerCase()}`] as const,
      ),
    ],
    serve: connection => server.serve(connection),
    close: () => server.close(),
  }
}

function servicesOf(resources: SessionResources): Readonly<Record<string, Handlers>> {
  const { folders, onChange, agents, stores, archive } = resources
  return {
    'grpc.health.v1.Health': { Check: unary(async () => ({ status: SERVING })) },
    'moby.filesync.v1.FileSync': { DiffCopy: call => syncFolder(call, folders, onChange) },
    // BuildKit falls back to Credentials, because the token methods are not served.
    'moby.filesync.v1.Auth': { Credentials: unary<{ Host?: string }>(({ Host = '' }) => loginOf(Host, resources)) },
    'moby.buildkit.secrets.v1.Secrets': {
      GetSecret: unary<{ ID?: string }>(({ ID = '' }) => secretOf(ID, resources)),
    },
    ...(agents.size > 0 && { 'moby.sshforward.v1.SSH': agentHandlers(agents) }),
    ...(stores.size > 0 && { 'containerd.services.content.v1.Content': contentHandlers(stores) }),
    ...(archive !== undefined && {
      'moby.filesync.v1.FileSend': { DiffCopy: call => receiveArchive(call, archive) },
    }),
  }
}

/** Handles a request for the files of a folder (`moby.filesync.v1.FileSync`). */
async function syncFolder(
  call: IncomingCall<Packet, Packet>,
  folders: ReadonlyMap<string, SyncedFolder>,
  onChange: (change: FileChanged) => void = () => {},
): Promise<void> {
  const name = valuesOf(call, 'dir-name')?.[0] ?? ''
  const folder = folders.get(name)
  if (!folder) throw new CallError(NOT_FOUND, `the build has no folder ${name}`)
  const include = valuesOf(call, 'include-patterns')
  const exclude = valuesOf(call, 'exclude-patterns')
  const followPaths = valuesOf(call, 'followpaths')
  const selection = { ...(include && { include }), ...(exclude && { exclude }), ...(followPaths && { followPaths }) }
  try {
    await sendFiles(folder, selection, call)
  } catch (error) {
    // The builder forwards only the text of the error.
    if (error instanceof FileChanged) onChange(error)
    throw error
  }
}

/**
 * Returns the values of a header, percent-decoded if the header `NAME-encoded` is present; undefined if the header is
 * absent.
 */
function valuesOf(call: IncomingCall<Packet, Packet>, name: string): readonly string[] | undefined {
  const values = call.valuesOf(name)
  if (values.length === 0) return undefined
  const isEncoded = call.valuesOf(`${name}-encoded`).length > 0
  return isEncoded ? values.map(value => decodeURIComponent(value.replaceAll('+', ' '))) : values
}

/** Host of the Docker Hub API, which differs from the host in image names. */
const HUB_API = 'registry-1.docker.io'

async function loginOf(host: string, { credentials }: SessionResources) {
  const login = await credentials(host === HUB_API ? 'docker.io' : host)
  return { Username: login?.username ?? '', Secret: login?.secret ?? '' }
}

async function secretOf(id: string, { secret }: SessionResources) {
  const data = await secret(id)
  if (data) return { data }
  throw new CallError(NOT_FOUND, `secret ${id} is not set`)
}

/** Returns handlers that serve SSH agents, by id, to the steps that mount them (`moby.sshforward.v1.SSH`). */
function agentHandlers(agents: ReadonlyMap<string, SshAgent>): Readonly<Record<string, Handler>> {
  const agentOf = (id: string) => {
    const agent = agents.get(id || DEFAULT_AGENT)
    if (agent !== undefined) return agent
    throw new CallError(NOT_FOUND, `the build has no SSH agent ${id || DEFAULT_AGENT}`)
  }
  return {
    CheckAgent: unary<{ ID?: string }>(async ({ ID = '' }) => {
      agentOf(ID)
      return {}
    }),
    ForwardAgent: call => forwardAgent(call, agentOf(call.valuesOf('buildkit.ssh.id')[0] ?? '')),
  }
}

/** Id of the agent for an SSH mount without an id. */
const DEFAULT_AGENT = 'default'

/**
 * Forwards the requests that arrive in a call to an SSH agent, one after the other, and sends back the responses of the
 * agent.
 */
async function forwardAgent({ requests, send }: IncomingCall<Bytes, Bytes>, agent: SshAgent): Promise<void> {
  const connection = await agent.connect()
  try {
    for await (const request of agentMessages(dataOf(requests)))
      await send({ data: string(await connection.answer(request)) })
  } finally {
    connection.close()
  }
}

interface Bytes {
  readonly data?: Uint8Array
}
