import { type Agent, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { createSecureContext } from 'node:tls'
import { ClusterError } from './cluster.ts'
import { type Credentials, needsLibrary, readCredentials } from './credentials.ts'
import { type Env, type Kubeconfig, loadKubeconfig, textOf } from './kubeconfig.ts'

/** What a request needs to be let in. */
export interface Connection {
  /** `Authorization` and impersonation. Secret. */
  readonly headers: Readonly<Record<string, string | string[]>>
  /** For calls: keeps some connections. */
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

/** Calls that are under way at the same time, each on a connection of its own. */
export const POOL = 8
const CALLS = { keepAlive: true, maxSockets: POOL, maxFreeSockets: POOL }
/** Milliseconds after which a connection that nobody uses is closed, before something between us and the server forgets it without a word. */
const IDLE = 30_000

/** The access that the user's kubeconfig gives; throws a UserError as `loadKubeconfig` does. */
export async function kubeconfigAccess(context: string | undefined, env: Env): Promise<KubeconfigAccess> {
  const first = await loadKubeconfig(context, env)
  return {
    context: first.context,
    namespace: first.namespace,
    server: first.server,
    async connect(fresh) {
      // Files of tokens and certificates change, and the plugin may have others now.
      const kubeconfig = fresh ? await loadKubeconfig(first.context, env) : first
      if (!needsLibrary(kubeconfig)) return connectOurselves(kubeconfig)
      const { connectByLibrary } = await import('./library.ts')
      const { agents, headers } = await connectByLibrary(kubeconfig, env)
      return { headers, calls: Object.assign(agents[0], CALLS), streams: agents[1] }
    },
  }
}

function connectOurselves(kubeconfig: Kubeconfig): Connection {
  const { server, cluster } = kubeconfig
  const { tls, headers } = readCredentials(kubeconfig)
  const calls = { ...CALLS, timeout: IDLE }
  if (server.protocol === 'http:') return { headers, calls: new HttpAgent(calls), streams: new HttpAgent() }
  const servername = textOf(cluster['tls-server-name'])
  const options = {
    // One for all connections: to read certificates takes some milliseconds each time.
    secureContext: contextOf(tls),
    ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false }),
    ...(servername !== undefined && { servername }),
  }
  return { headers, calls: new HttpsAgent({ ...options, ...calls }), streams: new HttpsAgent(options) }
}

function contextOf(tls: Credentials['tls']) {
  try {
    return createSecureContext(tls)
  } catch (cause) {
    const { message } = cause as Error // node:tls throws nothing else
    throw new ClusterError('unauthorized', `a certificate or key of the kubeconfig cannot be read: ${message}`, {
      cause,
    })
  }
}
