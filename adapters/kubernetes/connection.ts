import type { Agent } from 'node:http'
import { createSecureContext, type SecureContext } from 'node:tls'
import { agentFor } from '../http/agents.ts'
import { ClusterError } from './cluster.ts'
import { type ClusterCredentials, flawOf, needsLibrary, readCredentials } from './credentials.ts'
import { withPluginCredentials } from './exec-plugin.ts'
import { type Env, type Kubeconfig, loadKubeconfig } from './kubeconfig.ts'
import { textOf } from './kubeconfig-files.ts'

/** Credentials for requests to an API server, and agents that open the connections. */
export interface Connection {
  /** Headers for `Authorization` and impersonation. Secret. */
  readonly headers: Readonly<Record<string, string | string[]>>
  /** Agent for calls, which keeps some connections open. */
  readonly calls: Agent
  /** Agent for watches and logs, which occupy a connection for a long time; opens as many connections as needed. */
  readonly streams: Agent
}

/** The address of an API server, and a function that returns the credentials and agents for connecting to it. */
export interface Access {
  readonly server: URL
  /**
   * Returns credentials and agents. `rejected` is a connection whose credentials the server rejected: its credentials
   * are renewed, once for all callers. Throws a ClusterError with the failure `unauthorized` if no credentials can be
   * obtained.
   */
  connect(rejected?: Connection): Promise<Connection>
  /**
   * Returns the user whose credentials were rejected, and the reason if known: `` user `ann`: its token expired on …
   * ``.
   */
  describeUser?(): string
}

/**
 * Returns the error for rejected credentials. The server responds only `Unauthorized`, so the reason is taken from the
 * credentials if they reveal it.
 */
export function refusedCredentials(access: Access, cause: unknown): ClusterError {
  const message = `\`${access.server.origin}\` refuses the credentials of ${access.describeUser?.() ?? 'the user'}`
  return new ClusterError('unauthorized', message, { status: 401, cause })
}

export interface KubeconfigAccess extends Access {
  readonly context: string
  readonly namespace: string
}

/** Maximum number of concurrent calls, each on a separate connection. */
export const POOL = 8
const CALLS = { keepAlive: true, maxSockets: POOL, maxFreeSockets: POOL }
/**
 * Idle time after which an unused connection is closed, in milliseconds, so that a device between this machine and the
 * server does not drop it silently first.
 */
const IDLE = 30_000

/**
 * Returns the access that the user's kubeconfig defines. Throws a UserError as `loadKubeconfig` does. `signal` belongs
 * to the entire command; aborting it ends a credential plugin. With `isSilent`, a plugin cannot prompt, and its
 * messages are dropped.
 */
export async function kubeconfigAccess(
  context: string | undefined,
  env: Env,
  signal?: AbortSignal,
  { isSilent = false }: { readonly isSilent?: boolean } = {},
): Promise<KubeconfigAccess> {
  const first = await loadKubeconfig(context, env)
  let last: ClusterCredentials | undefined
  return {
    context: first.context,
    namespace: first.namespace,
    server: first.server,
    connect: onceEach(authenticate),
    describeUser() {
      const user = `user \`${first.userName ?? 'without a name'}\``
      const flaw = last && flawOf(last, Date.now())
      return flaw === undefined ? user : `${user}: ${flaw}`
    },
  }

  async function authenticate(fresh: boolean): Promise<Connection> {
    // Token and certificate files change, and the plugin may return new credentials.
    const loaded = fresh ? await loadKubeconfig(first.context, env) : first
    const kubeconfig = await withPluginCredentials(loaded, env, { signal, isSilent })
    last = readCredentials(kubeconfig)
    if (!needsLibrary(kubeconfig)) return connectOurselves(kubeconfig, last)
    const { connectByLibrary } = await import('./library.ts')
    const { agents, headers } = await connectByLibrary(kubeconfig)
    return { headers: { ...headers, ...last.headers }, calls: Object.assign(agents[0], CALLS), streams: agents[1] }
  }
}

/** A cluster that is reached with tokens that the caller provides. */
export interface TokenTarget {
  readonly context: string
  readonly namespace: string
  readonly server: URL
  /** CA certificate in PEM format. If undefined, the system's trusted certificates are used. */
  readonly ca: string | undefined
  readonly proxy: string | undefined
  /**
   * Returns a token. With `fresh`, does not return the previous token again. Throws an error with the reason if there
   * is no token.
   */
  token(fresh: boolean): Promise<string>
}

/** Returns access to a cluster, with the tokens of the target as credentials. */
export function tokenAccess({ context, namespace, server, ca, proxy, token }: TokenTarget): KubeconfigAccess {
  const authenticate = async (fresh: boolean): Promise<Connection> => {
    const headers = { authorization: `Bearer ${await token(fresh)}` }
    const cluster = { ...(proxy !== undefined && { 'proxy-url': proxy }) }
    const tls = ca === undefined ? {} : { ca }
    return connectOurselves({ context, namespace, server, cluster, user: {}, userName: undefined }, { tls, headers })
  }
  return {
    context,
    namespace,
    server,
    connect: onceEach(authenticate),
    describeUser: () => `your login at ${context}`,
  }
}

/**
 * Returns a function that creates access to the cluster of the environment's kubeconfig. The access authenticates with
 * `token`, which returns tokens of another user, instead of with the kubeconfig's credentials. `who` names that user in
 * messages. Throws a UserError as `loadKubeconfig` does.
 */
export async function tokenAccesses(env: Env): Promise<(token: TokenTarget['token'], who: string) => KubeconfigAccess> {
  const own = await loadKubeconfig(undefined, env)
  const kubeconfig: Kubeconfig = { ...own, user: {}, userName: undefined }
  const { tls } = readCredentials(kubeconfig)
  const { context, namespace, server } = own
  return (token, who) => ({
    context,
    namespace,
    server,
    connect: onceEach(async fresh =>
      connectOurselves(kubeconfig, { tls, headers: { authorization: `Bearer ${await token(fresh)}` } }),
    ),
    describeUser: () => who,
  })
}

/**
 * Returns a `connect` function that creates a connection at the first call and returns the same one at later calls. It
 * creates another one if this one was rejected, or if its creation failed.
 */
function onceEach(authenticate: (fresh: boolean) => Promise<Connection>): Access['connect'] {
  let current: Promise<Connection> | undefined
  let created: Connection | undefined
  const begin = (fresh: boolean) => {
    created = undefined
    const next = authenticate(fresh)
    next.then(
      connection => {
        created = connection
      },
      // The next call authenticates again after a failure.
      () => {
        current = undefined
      },
    )
    current = next
    return next
  }
  return rejected => {
    const isRejected = rejected !== undefined && rejected === created
    return current === undefined || isRejected ? begin(rejected !== undefined) : current
  }
}

async function connectOurselves(
  { server, cluster }: Kubeconfig,
  { tls, headers }: ClusterCredentials,
): Promise<Connection> {
  const servername = textOf(cluster['tls-server-name'])
  const options = server.protocol === 'https:' && {
    // Shared by all connections, because parsing certificates takes some milliseconds each time.
    secureContext: contextOf(tls),
    ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false }),
    ...(servername !== undefined && { servername }),
  }
  const proxy = textOf(cluster['proxy-url'])
  return {
    headers,
    calls: await agentFor(server, proxy, { ...options, ...CALLS, timeout: IDLE }),
    streams: await agentFor(server, proxy, { ...options }),
  }
}

/** Secure contexts by TLS settings: connections with the same settings share one. */
const contexts = new WeakMap<ClusterCredentials['tls'], SecureContext>()

function contextOf(tls: ClusterCredentials['tls']): SecureContext {
  try {
    const context = contexts.get(tls) ?? createSecureContext(tls)
    contexts.set(tls, context)
    return context
  } catch (cause) {
    const { message } = cause as Error // node:tls throws nothing else
    throw new ClusterError('unauthorized', `a certificate or key of the kubeconfig cannot be read: ${message}`, {
      cause,
    })
  }
}
