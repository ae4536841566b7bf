import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { type EnvironmentInput, findWorkloads } from '../../containers/workloads/find-workloads.ts'
import { toWarning } from '../../environment/status/events.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { objectsOfEnvironment } from './event-objects.ts'

export interface EventsInput extends EnvironmentInput {
  /** True to follow new events until the session's signal is aborted. */
  readonly follow?: boolean | undefined
}

/** Event of the cluster about an object of an environment. */
export interface ClusterEvent {
  /** Time of the last occurrence in ISO 8601. */
  readonly time: string
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  /** Object in kubectl notation, such as `pod/web-0`. */
  readonly object: string
  readonly message: string
  /** Number of occurrences. */
  readonly count: number
}

/**
 * Passes the events about the objects of an environment to `print`, oldest first, and with `follow` also new ones,
 * until the session's signal is aborted. The cluster keeps events for an hour by default.
 */
export async function events(
  world: OperationContext,
  input: EventsInput,
  project: OpenProject,
  print: (event: ClusterEvent) => void,
): Promise<void> {
  const { cluster, namespace, signal } = world.session
  const { known } = await findWorkloads(world, input, [], project)
  const isOurs = await objectsOfEnvironment(world.session, known.name)
  const query = { apiVersion: 'v1', kind: 'Event', namespace }
  const listed = (await cluster.list(query, { signal })).filter(isOurs)
  const seen = new Set(listed.map(versionOf))
  for (const event of listed.map(toEvent).sort((a, b) => (a.time < b.time ? -1 : 1))) print(event)
  if (!input.follow) return
  for await (const change of cluster.watch(query, { signal })) {
    if (change.type !== 'Changed' || !isOurs(change.object) || seen.has(versionOf(change.object))) continue
    seen.add(versionOf(change.object))
    print(toEvent(change.object))
  }
}

const versionOf = ({ metadata }: KubeObject): string => `${metadata.uid} ${metadata.resourceVersion}`

function toEvent(event: KubeObject): ClusterEvent {
  const { reason, message, count, time, about } = toWarning(event)
  return {
    time: new Date(time).toISOString(),
    type: event['type'] === 'Warning' ? 'Warning' : 'Normal',
    reason,
    object: `${about.kind.toLowerCase()}/${about.name}`,
    message,
    count,
  }
}
