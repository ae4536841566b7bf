import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { BlobStore } from '../content/blob-store.ts'
import { contentHandlers } from '../content/content-service.ts'
import type { FileChanged } from '../files/changed.ts'
import type { SyncedFolder } from '../files/folder.ts'
import { serviceDefinition } from '../protocol.ts'
import type { SshAgent } from '../ssh/agent.ts'
import { agentHandlers } from './agents.ts'
import { CallError, NOT_FOUND } from './call-error.ts'
import { syncFolder } from './file-sync.ts'
import { createRpcServer, type Handler, unary } from './rpc-server.ts'
import { receiveArchive } from './upload.ts'

/** The resources of the machine that runs devctl that a build may use. */
export interface SessionResources {
  /** Folders by their names in the solve: `context`, `dockerfile`, and those of `additional_contexts`. */
  readonly folders: ReadonlyMap<string, SyncedFolder>
  /** Called when a file of the folders is no longer what it was; the transfer fails. */
  readonly onChange?: (change: FileChanged) => void
  /** The content of secrets by their ids, read when it is asked for. Undefined: there is none. */
  readonly secret: (id: string) => Promise<Uint8Array | undefined>
  /** The login of a registry; undefined: anonymous. */
  readonly credentials: (registry: string) => Promise<Login | undefined>
  /** SSH agents by their ids. */
  readonly agents: ReadonlyMap<string, SshAgent>
  /** Folders of blobs, by the names that the builder has for them: caches and images. */
  readonly stores: ReadonlyMap<string, BlobStore>
  /** Path that the result is written to, if it is an archive. */
  readonly archive?: string
}

/** An identity token is the secret of an empty username. */
export interface Login {
  readonly username: string
  readonly secret: string
}

/** A session: what BuildKit calls back while it builds. */
export interface BuildSession {
  readonly id: string
  /**
   * Announce the session, in the call that it is tunnelled through, or in the upgrade of a
   * connection to a Docker Engine.
   */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Serves the calls that come over a connection, until the session is closed. */
  serve(connection: Duplex): void
  /** Ends all calls, and waits until nothing of them is left on the disk. */
  close(): Promise<void>
}

type Handlers = Readonly<Record<string, Handler>>

const SERVING = 1

/**
 * Creates the session of a build. `sharedKey` names the context between builds, so that the next
 * build sends only what has changed.
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
    // BuildKit falls back to Credentials, as the methods for tokens are not served.
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

/** The API of Docker Hub has another host than its images. */
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
