import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import { toWarning } from '../../../environment/status/events.ts'
import type { SeenEvents } from '../../api/environments.ts'
import { rfc3339 } from '../../records/names.ts'
import { isPartOf } from '../../rules/runs/workload-parts.ts'

/**
 * Maximum number of a namespace's events that are read, number of events that are read with one request, and maximum
 * number of events that are shown.
 */
const LOOKED_AT = 2000
const PAGE = 100
const SHOWN = 100
/** Maximum length of a message in characters. */
const LONGEST = 1000

/** Returns the recent events of a workload and its Pods, the newest first. */
export async function workloadEvents(
  cluster: Cluster,
  namespace: string,
  workload: string,
  signal: AbortSignal,
): Promise<SeenEvents> {
  const found: SeenEvents['items'] = []
  let looked = 0
  for await (const page of cluster.pages({ apiVersion: 'v1', kind: 'Event', namespace }, { signal, size: PAGE })) {
    for (const event of page) {
      const { about, time, reason, message, count } = toWarning(event)
      if (!isPartOf(workload, about)) continue
      found.push({
        ...(event['type'] === 'Warning' && { isWarning: true }),
        about: `${about.kind.toLowerCase()}/${about.name}`,
        time: rfc3339(Number.isFinite(time) ? time : 0),
        reason: reason.slice(0, LONGEST),
        message: message.slice(0, LONGEST),
        count,
      })
    }
    found.sort((a, b) => (a.time < b.time ? 1 : -1))
    found.splice(SHOWN)
    looked += page.length
    // Stops here, so that a namespace full of events does not keep the server busy.
    if (looked >= LOOKED_AT) return { items: found, isCut: true }
  }
  return { items: found }
}
