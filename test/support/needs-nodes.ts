import { eventually, findCluster } from './cluster/cluster.ts'
import { lacks } from './lacks.ts'

interface Nodes {
  readonly items: readonly { readonly status: { readonly conditions?: readonly { type: string; status: string }[] } }[]
}

/**
 * Fails where nothing may be left out and the cluster of KUBECONFIG has no node that is ready: the tests with Pods
 * would skip themselves.
 */
export default async function needsNodes(): Promise<void> {
  const cluster = findCluster()
  const hasNodes = (await cluster?.hasNodes()) ?? false
  if (lacks('a cluster with nodes', !hasNodes) || cluster === undefined) return
  await eventually(
    'a node is ready',
    async () => {
      const { items } = await cluster.get<Nodes>('/api/v1/nodes')
      const conditions = items.flatMap(({ status }) => status.conditions ?? [])
      return conditions.some(({ type, status }) => type === 'Ready' && status === 'True') || undefined
    },
    { seconds: 120 },
  )
  cluster.close()
}
