import type { Agent } from 'node:http'
import type { RequestOptions } from 'node:https'
import { ClusterError } from './cluster.ts'
import { impersonation } from './credentials.ts'
import type { Env, Fields, Kubeconfig } from './kubeconfig.ts'

/** What the client library makes of a kubeconfig. Each agent is a new one. */
export interface LibraryConnection {
  readonly agents: readonly [Agent, Agent]
  /** Secret. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

/**
 * Lets @kubernetes/client-node do what is laborious: credential plugins, the old providers, proxies. It is heavy (a third of a second from
 * its own files, a tenth from the bundle), so nobody else loads it. Throws `unauthorized` when the credentials cannot be had.
 */
export async function connectByLibrary(kubeconfig: Kubeconfig, env: Env): Promise<LibraryConnection> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const { server, namespace } = kubeconfig
  // The library takes plain http only with this; there is no certificate to verify.
  const plain = server.protocol === 'http:' ? { 'insecure-skip-tls-verify': true } : {}
  const name = 'devctl'
  const config = new KubeConfig()
  config.loadFromString(
    JSON.stringify({
      'current-context': name,
      contexts: [{ name, context: { cluster: name, user: name, namespace } }],
      clusters: [{ name, cluster: { ...kubeconfig.cluster, ...plain } }],
      users: [{ name, user: equipped(kubeconfig, env) }],
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
      // The library sets an agent of the right kind (TLS or not, through a proxy or not), and headers of one value.
      agents: [first.agent as Agent, second.agent as Agent],
      headers: { ...(first.headers as Record<string, string>), ...basic, ...impersonation(kubeconfig.user) },
    }
  } catch (cause) {
    const { command } = (kubeconfig.user['exec'] ?? {}) as { command?: unknown } // a map, or nothing that has fields
    const whence = typeof command === 'string' ? ` from \`${command}\`` : ''
    const message = cause instanceof Error ? cause.message.trim() : ''
    throw new ClusterError('unauthorized', `could not get credentials${whence}: ${message}`, { cause })
  }
}

/** Gives the credential plugin our environment, and what client-go tells a plugin by `KUBERNETES_EXEC_INFO`, which the library does not. */
function equipped({ cluster, user }: Kubeconfig, env: Env): Fields {
  // Impersonation is ours: the library knows its name alone, and would send it a second time.
  const { as: _, ...rest } = user
  const exec = rest['exec'] as (Fields & { readonly env?: unknown }) | undefined // kubeconfig.ts leaves maps as they are
  if (!exec) return rest
  const info = {
    apiVersion: exec['apiVersion'],
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(exec['provideClusterInfo'] === true && {
        cluster: Object.fromEntries(
          ['server', 'certificate-authority-data', 'insecure-skip-tls-verify', 'tls-server-name', 'proxy-url'].map(
            key => [key, cluster[key]],
          ),
        ),
      }),
    },
  }
  const variables = [
    ...Object.entries(env).map(([name, value]) => ({ name, value })),
    ...(Array.isArray(exec.env) ? exec.env : []),
    { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) },
  ]
  return { ...rest, exec: { ...exec, env: variables } }
}
