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
  /** Record of the environment; undefined if it was never deployed, or was destroyed. */
  readonly record: EnvironmentRecord | undefined
  /** Services of the environment, sorted by name. */
  readonly services: readonly ServiceOverview[]
}

/** Kinds needed for the state of workloads, in addition to the kinds of workloads and routes. */
export const STATE_KINDS = [
  ['v1', 'Pod'],
  ['apps/v1', 'ReplicaSet'],
  ['v1', 'PersistentVolumeClaim'],
  ['v1', 'Service'],
] as const

/**
 * Reads the state of an environment once, with one request per kind, all in parallel. `now` is in milliseconds since
 * 1970. Throws if the cluster rejects a request.
 */
export async function overviewOf(
  cluster: Cluster,
  { environment, namespace, now }: { readonly environment: string; readonly namespace: string; readonly now: number },
  options: CallOptions,
): Promise<Overview> {
  const labels = environmentSelector(environment)
  // A user with permission for only some kinds sees less.
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
