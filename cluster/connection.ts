import type { Agent } from 'node:http'
import { type Credentials, flawOf, getCredentials, type Headers } from './credentials.ts'
import { type Env, loadKubeconfig } from './kubeconfig.ts'

/** What a request needs to be let in. */
export interface Connection {
  /** `Authorization` and impersonation. Secret. */
  readonly headers: Headers
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
  /** Whose credentials were refused, and why as far as can be told: `` user `ann`: its token expired on … ``. */
  describeUser?(): string
}

export interface KubeconfigAccess extends Access {
  readonly context: string
  readonly namespace: string
}

const POOL = 8

/**
 * The access that the user's kubeconfig gives; throws a UserError as `loadKubeconfig` does. The signal is that of the whole command: it ends
 * a credential plugin.
 */
export async function kubeconfigAccess(
  context: string | undefined,
  env: Env,
  signal?: AbortSignal,
): Promise<KubeconfigAccess> {
  const first = await loadKubeconfig(context, env)
  let last: Credentials | undefined
  return {
    context: first.context,
    namespace: first.namespace,
    server: first.server,
    async connect(fresh) {
      // What a file or a plugin has given before is in the first one.
      const kubeconfig = fresh ? await loadKubeconfig(first.context, env) : first
      last = await getCredentials(kubeconfig, env, signal)
      const [calls, streams] = [await last.newAgent(), await last.newAgent()]
      Object.assign(calls, { keepAlive: true, maxSockets: POOL, maxFreeSockets: POOL })
      return { headers: last.headers, auth: last.auth, calls, streams }
    },
    describeUser() {
      const user = `user \`${first.config.getCurrentUser()?.name || 'without a name'}\``
      const flaw = last && flawOf(last, Date.now())
      return flaw === undefined ? user : `${user}: ${flaw}`
    },
  }
}
