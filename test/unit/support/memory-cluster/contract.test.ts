import { describeCluster } from '../../../support/cluster-contract.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

describeCluster('the cluster in memory', async () => {
  const cluster = new MemoryCluster({ namespaces: ['one', 'two'] })
  const powerless = new MemoryCluster({ namespaces: ['one', 'two'] })
  powerless.allows = () => false
  return {
    cluster,
    powerless,
    namespaces: ['one', 'two'],
    async define({ apiVersion, kind, plural }) {
      cluster.register({ apiVersion, kind, name: plural, namespaced: true, hasStatus: true })
    },
    async print(pod, namespace, lines) {
      await cluster.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: pod, namespace }, spec: {} })
      const container = `${namespace}/${pod}/main`
      cluster.logBook.print(container, ...lines)
      cluster.logBook.end(container, { restart: true })
      cluster.logBook.print(container, ...lines)
    },
    async close() {},
  }
})
