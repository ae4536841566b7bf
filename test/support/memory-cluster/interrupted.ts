import type { MemoryCluster } from './memory-cluster.ts'

/** A client of the cluster that does something else before one of its requests, and says whether it came to it. */
export function interrupted(cluster: MemoryCluster, at: number, work: () => Promise<unknown>) {
  let requests = 0
  const interrupt = async () => {
    if (++requests === at) await work()
  }
  const client = new Proxy(cluster, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      if (!['get', 'list', 'create', 'apply', 'patch', 'delete'].includes(String(key))) return value.bind(target)
      return async (...args: unknown[]) => {
        await interrupt()
        return Reflect.apply(value, target, args)
      }
    },
  })
  return { client, isOver: () => requests < at }
}
