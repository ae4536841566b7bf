import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { bindingInForce, type Cluster } from './cluster.ts'

/** Settings from the kubeconfig of the test cluster, for making other kubeconfigs. */
export interface Admin {
  readonly server: string
  /** PEM in base64. */
  readonly authority: string
  readonly certificate: string
  readonly key: string
}

export function adminOf(path: string): Admin {
  const { clusters, users } = parse(readFileSync(path, 'utf8'))
  const { cluster } = clusters[0]
  const { user } = users[0]
  return {
    server: cluster.server,
    authority: cluster['certificate-authority-data'],
    certificate: user['client-certificate-data'],
    key: user['client-key-data'],
  }
}

type Part = Readonly<Record<string, unknown>>

/** Writes a kubeconfig of one context `it` into a folder; what is not given is left out. Gives its path. */
export function writeKubeconfig(
  folder: string,
  { cluster, user, namespace }: { readonly cluster?: Part; readonly user?: Part; readonly namespace?: string },
  name = 'config',
): string {
  const path = join(folder, name)
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    ...(cluster && { clusters: [{ name: 'c', cluster }] }),
    ...(user && { users: [{ name: 'u', user }] }),
    contexts: [{ name: 'it', context: { cluster: 'c', user: 'u', ...(namespace && { namespace }) } }],
    'current-context': 'it',
  }
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
  return path
}

/** Returns a token of a service account that has the built-in role `edit` in one namespace, and nothing else. */
export async function editorToken(cluster: Cluster, namespace: string, seconds = 3600): Promise<string> {
  const token = await tokenFor(
    cluster,
    namespace,
    { name: 'editor', role: { kind: 'ClusterRole', name: 'edit' } },
    seconds,
  )
  await bindingInForce(cluster, namespace, `system:serviceaccount:${namespace}:editor`)
  return token
}

/** Returns a token for a new service account that has an existing role in the namespace. */
export async function tokenFor(
  cluster: Cluster,
  namespace: string,
  { name, role }: { readonly name: string; readonly role: { readonly kind: string; readonly name: string } },
  seconds = 3600,
): Promise<string> {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await cluster.send('POST', accounts, { metadata: { name } })
  await cluster.send('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...role },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  })
  const { status, body } = await cluster.send('POST', `${accounts}/${name}/token`, {
    spec: { expirationSeconds: seconds },
  })
  if (status !== 201) throw new Error(`a token: ${status} ${body}`)
  return JSON.parse(body).status.token
}
