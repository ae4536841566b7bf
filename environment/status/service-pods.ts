import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { lastingContainers } from '../../constructs/manifest.ts'
import { isEnding } from '../apply/removal.ts'
import { environmentSelector, SERVICE_LABEL } from '../labels.ts'
import { isReady } from './problems.ts'

/** Query for a Pod of a service. */
export interface ServicePodQuery {
  readonly environment: string
  readonly namespace: string
  /** Service name in the cluster. */
  readonly service: string
  /** Service in whose Pods the container of `service` runs: usually `service` itself. */
  readonly lead: string
  /** Number of the Pod, from 1, in the order of names. If absent, any Pod, preferably a ready one. */
  readonly index?: number | undefined
  /** Name of the container. If absent, the container of the service. */
  readonly container?: string | undefined
  /** Kind of the service's workload, for hints. */
  readonly kind?: string | undefined
}

/** Running container of a service. */
export interface ServiceContainer {
  readonly pod: KubeObject
  readonly container: string
}

/**
 * Returns the running Pods of a service in the order of their names. The Pods of a StatefulSet are ordered by number.
 */
export async function runningPods(
  cluster: Cluster,
  { environment, namespace, lead }: Pick<ServicePodQuery, 'environment' | 'namespace' | 'lead'>,
  options: CallOptions,
): Promise<readonly KubeObject[]> {
  return (await podsOf(cluster, { environment, namespace, lead }, options)).filter(isRunning).sort(byName)
}

/**
 * Returns a running container of a service. Throws a UserError if no Pod of the service runs, or if the requested
 * number or container does not exist.
 */
export async function findServiceContainer(
  cluster: Cluster,
  query: ServicePodQuery,
  options: CallOptions,
): Promise<ServiceContainer> {
  const { service, index, container } = query
  const all = await podsOf(cluster, query, options)
  const running = all.filter(isRunning).sort(byName)
  const pod = index === undefined ? (running.find(isReady) ?? running[0]) : running[index - 1]
  if (pod === undefined) throw running.length === 0 ? noPodError(query, all) : noIndex(service, running, index!)
  return { pod, container: containerOf(pod, service, container) }
}

async function podsOf(
  cluster: Cluster,
  { environment, namespace, lead }: Pick<ServicePodQuery, 'environment' | 'namespace' | 'lead'>,
  options: CallOptions,
): Promise<readonly KubeObject[]> {
  const labels = `${environmentSelector(environment)},${SERVICE_LABEL}=${lead}`
  return cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace, labels }, options)
}

const byName = (a: KubeObject, b: KubeObject): number =>
  a.metadata.name.localeCompare(b.metadata.name, 'en', { numeric: true })

const phaseOf = ({ status }: KubeObject): string => (status as { phase?: string } | undefined)?.phase ?? 'Unknown'

const isRunning = (pod: KubeObject): boolean => !isEnding(pod) && phaseOf(pod) === 'Running'

/** Returns the names of the containers that keep running: the containers of services, and sidecars. */
export const containerNames = ({ spec = {} }: KubeObject): readonly string[] =>
  lastingContainers<{ readonly name: string }>(spec as object).map(({ name }) => name) // a Pod's spec

function containerOf(pod: KubeObject, service: string, wanted: string | undefined): string {
  const names = containerNames(pod)
  if (wanted === undefined) return names.includes(service) ? service : names[0]!
  if (names.includes(wanted)) return wanted
  throw new UserError(`pod/${pod.metadata.name} of \`${service}\` has no container \`${wanted}\``, {
    hint: `its containers are ${names.map(name => `\`${name}\``).join(', ')}`,
  })
}

/** Returns the error for a job that has no Pod because it does not run now. */
export const noRunError = (job: string): UserError =>
  new UserError(`\`${job}\` is a job, and no run of it is running`, {
    hint: `\`devctl run ${job}\` starts one, and \`devctl logs ${job}\` shows the log of the last; \`devctl jobs\` lists them`,
  })

/** Returns the error for a service of which no Pod runs. */
export function noPodError(
  { service, kind }: Pick<ServicePodQuery, 'service' | 'kind'>,
  pods: readonly KubeObject[],
): UserError {
  if (kind === 'CronJob') return noRunError(service)
  const again =
    kind === 'Job'
      ? `\`devctl deploy --rerun ${service}\` runs it again`
      : `\`devctl start ${service}\` starts a stopped service`
  return new UserError(`no Pod of \`${service}\` is running`, {
    notes: pods.map(pod => `pod/${pod.metadata.name} is ${isEnding(pod) ? 'ending' : phaseOf(pod).toLowerCase()}`),
    hint:
      pods.length === 0 ? `\`devctl ps ${service}\` shows why; ${again}` : `\`devctl logs ${service}\` shows its log`,
  })
}

function noIndex(service: string, pods: readonly KubeObject[], index: number): UserError {
  return new UserError(`\`${service}\` has no Pod number ${index}`, {
    notes: pods.map(({ metadata }, at) => `${at + 1}: pod/${metadata.name}`),
    hint: pods.length === 1 ? 'use `--index 1`' : `use a number from 1 to ${pods.length}`,
  })
}
