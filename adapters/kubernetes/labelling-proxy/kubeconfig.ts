import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryFolder } from '../../files/temporary-folder.ts'

export interface ProxyAccess {
  /** Name of the user's context, which commands may pass to `--context`. */
  readonly context: string
  readonly namespace: string
  readonly port: number
  /** Certificate of the authority, in PEM. */
  readonly authority: string
  readonly token: string
}

export interface KubeconfigFolder {
  /** Variables that make kubectl and helm use the proxy. */
  readonly variables: Readonly<Record<string, string>>
  remove(): void
}

/**
 * Writes a kubeconfig that contains only the proxy. The file has the mode 0600, and its folder can be entered only by
 * the user.
 */
export function writeKubeconfig({ context, namespace, port, authority, token }: ProxyAccess): KubeconfigFolder {
  const folder = makeTemporaryFolder('devctl-proxy-')
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    'certificate-authority-data': Buffer.from(authority).toString('base64'),
  }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': context,
    contexts: [{ name: context, context: { cluster: context, user: context, namespace } }],
    clusters: [{ name: context, cluster }],
    users: [{ name: context, user: { token } }],
  }
  const file = join(folder, 'config')
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify(config, null, 2), { mode: 0o600, flag: 'wx' })
  const cache = join(folder, 'cache')
  mkdirSync(cache, { mode: 0o700 })
  return {
    // kubectl caches discovery by host and port; the next proxy on this port may forward to another cluster.
    variables: { KUBECONFIG: file, KUBECACHEDIR: cache },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
