/** A kubeconfig with these contexts and their namespaces; the first is the current one. */
export function kubeconfigWith(contexts: Readonly<Record<string, string | undefined>>): string {
  const [current] = Object.keys(contexts)
  const entries = Object.entries(contexts).map(([name, namespace]) => ({
    name,
    context: { cluster: 'c', user: 'u', ...(namespace && { namespace }) },
  }))
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 'KUBECONFIG-TOKEN' } }],
    contexts: entries,
    ...(current !== undefined && { 'current-context': current }),
  })
}
