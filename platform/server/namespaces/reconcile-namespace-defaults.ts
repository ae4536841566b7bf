import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL, MANAGER, rfc3339 } from '../../records/names.ts'
import type { ServerContext } from '../context.ts'
import type { LeaderTask } from '../leader/leader.ts'
import { namespaceDefaults } from './namespace-defaults.ts'

const EVERY = 6 * 3_600_000

/**
 * Returns the task that updates the standard objects in each namespace. A namespace that was created by an older
 * version, or before the cluster got new networks, gets the limits and network policies of a new namespace. Changes by
 * an operator are kept and logged.
 */
export const surroundingsTask = ({ cluster, settings, now, log }: ServerContext): LeaderTask => {
  async function bring(object: KubeObject, signal: AbortSignal): Promise<void> {
    try {
      await cluster.apply(object, { manager: MANAGER, force: false, signal })
    } catch (error) {
      signal.throwIfAborted()
      const { kind, metadata } = object
      const isChanged = error instanceof ClusterError && error.failure === 'conflict'
      const why = isChanged ? 'somebody has changed it' : error instanceof Error ? error.message : error
      log({ time: rfc3339(now()), text: `${kind} ${metadata.namespace}/${metadata.name} stays as it is: ${why}` })
    }
  }
  return {
    name: 'surroundings of namespaces',
    everyMs: EVERY,
    async run(signal) {
      const query = { apiVersion: 'v1', kind: 'Namespace', labels: `${MANAGED_LABEL}=true` }
      for await (const page of cluster.pages(query, { signal }))
        for (const { metadata } of page)
          if (metadata.deletionTimestamp === undefined)
            await Promise.all(namespaceDefaults(metadata.name, settings).map(one => bring(one, signal)))
    },
  }
}
