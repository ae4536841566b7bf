import { findCluster } from './cluster/cluster.ts'
import { lacks } from './lacks.ts'

/** Fails where nothing may be left out and the cluster of KUBECONFIG has no nodes: the tests with Pods would skip themselves. */
export default async function needsNodes(): Promise<void> {
  const cluster = findCluster()
  lacks('a cluster with nodes', !(await cluster?.hasNodes()))
  cluster?.close()
}
