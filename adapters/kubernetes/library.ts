import type { Agent } from 'node:http'
import type { RequestOptions } from 'node:https'
import { ClusterError } from './cluster.ts'
import { impersonation } from './credentials.ts'
import type { Kubeconfig } from './kubeconfig.ts'

/** The connection that the client library creates from a kubeconfig. Its two agents do not share connections. */
export interface LibraryConnection {
  readonly agents: readonly [Agent, Agent]
  /** Headers with the credentials. Secret. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

/**
 * Connects with @kubernetes/client-node, for features that devctl does not implement: legacy auth providers, and SOCKS
 * proxies. The library is slow to load (a third of a second from its own files, a tenth from the bundle), so no other
 * module imports it. Throws a ClusterError with the failure `unauthorized` if no credentials can be obtained.
 */
export async function connectByLibrary(kubeconfig: Kubeconfig): Promise<LibraryConnection> {
  const { KubeConfig } = await import('./kube-config-library.ts')
  const { server, namespace } = kubeconfig
  // The library requires this setting for plain http; there is no certificate to verify.
  const plain = server.protocol === 'http:' ? { 'insecure-skip-tls-verify': true } : {}
  // devctl sets the impersonation headers: the library supports only the user name, and would send it a second time.
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
      // The library sets the right type of agent (with or without TLS and proxy), and only headers with a single value.
      agents: [first.agent as Agent, second.agent as Agent],
      headers: { ...(first.headers as Record<string, string>), ...basic, ...impersonation(kubeconfig.user) },
    }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.trim() : ''
    throw new ClusterError('unauthorized', `could not get credentials: ${message}`, { cause })
  }
}
