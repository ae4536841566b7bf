import type { Agent } from 'node:http'
import type { RequestOptions } from 'node:https'
import { ClusterError } from './cluster.ts'
import { impersonation } from './credentials.ts'
import type { Kubeconfig } from './kubeconfig.ts'

/** The connection that the client library makes from a kubeconfig. Each agent is a new one. */
export interface LibraryConnection {
  readonly agents: readonly [Agent, Agent]
  /** Headers with the credentials: secret. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

/**
 * Connects with @kubernetes/client-node, for the laborious cases: the old token providers, and SOCKS proxies. The
 * library is heavy (a third of a second from its own files, a tenth from the bundle), so no other module loads it.
 * Throws `unauthorized` if no credentials can be obtained.
 */
export async function connectByLibrary(kubeconfig: Kubeconfig): Promise<LibraryConnection> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const { server, namespace } = kubeconfig
  // The library takes plain http only with this; there is no certificate to verify.
  const plain = server.protocol === 'http:' ? { 'insecure-skip-tls-verify': true } : {}
  // Impersonation is ours: the library knows its name alone, and would send it a second time.
  const { as: _, ...user } = kubeconfig.user
  const name = 'devctl'
  const config = new KubeConfig()
  config.loadFromString(
    JSON.stringify({
      'current-context': name,
      contexts: [{ name, context: { cluster: name, user: name, namespace } }],
      clusters: [{ name, cluster: { ...kubeconfig.cluster, ...plain } }],
      users: [{ name, user }],
    }),
  )
  const authenticate = async () => {
    const options: RequestOptions = {}
    await config.applyToHTTPSOptions(options)
    return options
  }
  try {
    const [first, second] = [await authenticate(), await authenticate()]
    const basic = first.auth && { authorization: `Basic ${Buffer.from(first.auth).toString('base64')}` }
    return {
      // The library sets an agent of the right kind (TLS or not, through a proxy or not), and
      // headers of one value.
      agents: [first.agent as Agent, second.agent as Agent],
      headers: { ...(first.headers as Record<string, string>), ...basic, ...impersonation(kubeconfig.user) },
    }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.trim() : ''
    throw new ClusterError('unauthorized', `could not get credentials: ${message}`, { cause })
  }
}
