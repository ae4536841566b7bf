import type { Cluster, LogOptions } from '../../../adapters/kubernetes/cluster.ts'
import type { TestPlatform } from '../../support/platform/open-platform.ts'

/** Log output of containers, which no node runs. */
export interface PlayedLogs {
  /** A container of that name writes a line. */
  say(container: string, line: string): void
}

/** Gives the clusters of a platform logs of their own; all else they still have from the API server. */
export function playLogs({ world, own }: TestPlatform): PlayedLogs {
  const lines = new Map<string, string[]>()
  const readers = new Set<() => void>()
  async function* logs(_: unknown, { container, follow, signal }: LogOptions): AsyncGenerator<string> {
    for (let at = 0; ; ) {
      const said = lines.get(container) ?? []
      while (at < said.length) yield said[at++]!
      if (!follow || signal?.aborted) return
      let wake = () => {}
      const more = new Promise<void>(resolve => {
        wake = resolve
      })
      readers.add(wake)
      signal?.addEventListener('abort', wake, { once: true })
      if ((lines.get(container) ?? []).length === at && !signal?.aborted) await more
      readers.delete(wake)
    }
  }
  const withLogs = (cluster: Cluster) => Object.assign(cluster, { logs })
  withLogs(own)
  const { clusterAs } = world
  Object.assign(world, { clusterAs: (...of: Parameters<typeof clusterAs>) => withLogs(clusterAs(...of)) })
  return {
    say(container, line) {
      const at = new Date().toISOString().replace('Z', `${String(lines.get(container)?.length ?? 0).padStart(6, '0')}Z`)
      lines.set(container, [...(lines.get(container) ?? []), `${at} ${line}`])
      for (const wake of readers) wake()
    },
  }
}
