import type { CallOptions, Cluster } from '../../adapters/kubernetes/cluster.ts'
import { isRoute, kindsOf } from '../../constructs/kinds.ts'
import { gatewaysOf } from '../endpoints/gateways.ts'
import { addressesOf } from '../endpoints/routes.ts'
import { unlessForbidden } from '../forbidden.ts'
import { environmentSelector } from '../labels.ts'
import { type EnvironmentRecord, readRecord } from '../record/record.ts'
import { listWarnings } from './events.ts'
import { listServices, type ServiceOverview } from './service-status.ts'
import { addCapacityEvents } from './unschedulable.ts'

/** State of an environment. */
export interface Overview {
  /** Undefined: it was never deployed, or is destroyed. */
  readonly record: EnvironmentRecord | undefined
  /** Sorted by service. */
  readonly services: readonly ServiceOverview[]
}

/** Kinds that show the state of workloads, besides their own kinds and those of routes. */
export const STATE_KINDS = [
  ['v1', 'Pod'],
  ['apps/v1', 'ReplicaSet'],
  ['v1', 'PersistentVolumeClaim'],
  ['v1', 'Service'],
] as const

/**
 * Looks once, with one request for each kind of objects, all at the same time. `now` is in
 * milliseconds since 1970. Throws what the cluster refuses.
 */
export async function overviewOf(
  cluster: Cluster,
  { environment, namespace, now }: { readonly environment: string; readonly namespace: string; readonly now: number },
  options: CallOptions,
): Promise<Overview> {
  const labels = environmentSelector(environment)
  // A user who may read only some kinds sees less.
  const list = (apiVersion: string, kind: string) =>
    unlessForbidden(cluster.list({ apiVersion, kind, namespace, labels }, options), [])
  const [record, warnings, ...lists] = await Promise.all([
    readRecord(cluster, environment, namespace, options),
    listWarnings(cluster, namespace, options),
    ...[...kindsOf('workload'), ...kindsOf('route')].map(({ apiVersion, kind }) => list(apiVersion, kind)),
    ...STATE_KINDS.map(([apiVersion, kind]) => list(apiVersion, kind)),
  ])
  const objects = lists.flat()
  const pods = objects.filter(({ kind }) => kind === 'Pod')
  const [gateways] = await Promise.all([
    gatewaysOf(cluster, objects, options),
    addCapacityEvents(cluster, namespace, { pods, warnings }, options),
  ])
  const urls = objects.filter(isRoute).flatMap(route => addressesOf(route, gateways))
  const services = listServices({ objects, warnings, urls, now })
  return { record, services: services.map(({ overview }) => overview) }
}
