import { MANAGED_LABEL } from '../../records/names.ts'
import { toNamespace } from '../../records/namespace.ts'
import type { ServerContext } from '../context.ts'
import type { LeaderTask } from '../leader/leader.ts'
import type { LongerNames } from './longer-names.ts'

const EVERY = 60_000

/**
 * Returns the task that releases reserved hosts. A namespace reserves hosts for a namespace with a longer name, until
 * that namespace is deleted. A longer name is recorded before the namespace with this name is created, so a missing
 * namespace may still be created. Hosts are therefore released only after the namespace was missing in two checks, a
 * minute apart.
 */
export const longerNamesTask = ({ cluster }: ServerContext, longerNames: LongerNames): LeaderTask => {
  let missing: ReadonlyMap<string, ReadonlySet<string>> = new Map()
  return {
    name: 'names of longer namespaces',
    everyMs: EVERY,
    async run(signal) {
      const names = new Set<string>()
      const kept: (readonly [string, readonly string[]])[] = []
      const query = { apiVersion: 'v1', kind: 'Namespace', labels: `${MANAGED_LABEL}=true` }
      for await (const page of cluster.pages(query, { signal }))
        for (const one of page) {
          names.add(one.metadata.name)
          const { name, longerNames = [] } = toNamespace(one) ?? { name: '' }
          if (longerNames.length > 0) kept.push([name, longerNames])
        }
      const gone = kept.flatMap(([name, longer]) => {
        const those = longer.filter(one => !names.has(one))
        return those.length > 0 ? [[name, new Set(those)] as const] : []
      })
      for (const [name, those] of gone) {
        const before = missing.get(name)
        const forgotten = new Set([...those].filter(one => before?.has(one)))
        if (forgotten.size > 0) await longerNames.forget(name, forgotten)
      }
      missing = new Map(gone)
    },
  }
}
