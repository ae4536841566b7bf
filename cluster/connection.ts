import type { Agent } from 'node:http'
import type { RequestOptions } from 'node:https'
import { ClusterError } from './cluster.ts'
import { type Env, loadKubeconfig } from './kubeconfig.ts'

/** What a request needs to be let in. */
export interface Connection {
  /** `Authorization` and impersonation. Secret. */
  readonly headers: Readonly<Record<string, string>>
  /** `user:password`, for basic authentication. Secret. */
  readonly auth: string | undefined
  /** For calls: keeps connections, eight at most. */
  readonly calls: Agent
  /** For watches and logs, which hold a connection for long: as many as there are. */
  readonly streams: Agent
}

/** A server, and the way to get a connection to it. */
export interface Access {
  readonly server: URL
  /** Gets credentials; with `fresh`, after the server has refused those from before. Throws `unauthorized` when there are none to be had. */
  connect(fresh: boolean): Promise<Connection>
}

export interface KubeconfigAccess extends Access {
  readonly context: string
  readonly namespace: string
}

const POOL = 8

/** The access that the user's kubeconfig gives; throws a UserError as `loadKubeconfig` does. */
export async function kubeconfigAccess(context: string | undefined, env: Env): Promise<KubeconfigAccess> {
  const first = await loadKubeconfig(context, env)
  return {
    context: first.context,
    namespace: first.namespace,
    server: first.server,
    async connect(fresh) {
      // Tokens are cached within the library's object: only a new one reads the files and runs the plugin again.
      const { config } = fresh ? await loadKubeconfig(first.context, env) : first
      const [calls, streams] = [await authenticate(config), await authenticate(config)]
      Object.assign(calls.agent, { keepAlive: true, maxSockets: POOL, maxFreeSockets: POOL })
      return { headers: calls.headers, auth: calls.auth, calls: calls.agent, streams: streams.agent }
    },
  }
}

async function authenticate(config: Awaited<ReturnType<typeof loadKubeconfig>>['config']) {
  const options: RequestOptions = {}
  try {
    await config.applyToHTTPSOptions(options)
  } catch (cause) {
    const exec = config.getCurrentUser()?.exec
    const whence = exec ? ` from \`${exec.command}\`` : ''
    const message = cause instanceof Error ? cause.message.trim() : ''
    throw new ClusterError('unauthorized', `could not get credentials${whence}: ${message}`, { cause })
  }
  return {
    // The library sets an agent of the right kind (TLS or not, through a proxy or not), and headers of one value.
    agent: options.agent as Agent,
    headers: { ...options.headers } as Record<string, string>,
    auth: options.auth ?? undefined,
  }
}
