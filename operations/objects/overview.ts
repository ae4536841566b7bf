import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isRoute, isWorkload, kindsOf } from '../../constructs/kinds.ts'
import { gatewaysOf } from './endpoints/gateways.ts'
import { addressesOf, shorterFirst } from './endpoints/routes.ts'
import { listWarnings, type Warnings } from './events.ts'
import { SHORT } from './failures.ts'
import { unlessForbidden } from './forbidden.ts'
import { environmentSelector } from './labels.ts'
import { isDependant } from './owners.ts'
import { claimProblems, type Problem, podProblems, workloadProblems } from './problems.ts'
import { type EnvironmentRecord, readRecord } from './record.ts'
import { remedyOf } from './remedies.ts'
import { mirrorOf } from './resting.ts'
import { newestPods } from './revisions.ts'
import { statusOf, type WorkloadStatus } from './status.ts'
import { belongsTo, claimsOf } from './tracker.ts'
import { upRecordOf } from './up-record.ts'
import { serviceOf } from './wanted.ts'

/** How a service of an environment is. */
export interface ServiceOverview {
  /** In Kubernetes' form; of what commands made, the name of the workload. */
  readonly service: string
  /**
   * The workload, as kubectl names it: `deployment/web`. A service in the Pods of another one has
   * that one's.
   */
  readonly kind: string
  readonly workload: string
  readonly state: WorkloadStatus['state']
  /** Pods that are ready, and that should be. */
  readonly ready: number
  readonly wanted: number
  readonly restarts: number
  /** When its newest Pods were made, the workload where it has none (ISO 8601). */
  readonly since: string | undefined
  readonly image: string | undefined
  /** Public addresses, the shorter ones first. */
  readonly addresses: readonly string[]
  /**
   * Where it is reached from outside by TCP or UDP: `203.0.113.7:1883` of a load balancer,
   * `<node>:31883` of a port of every node.
   */
  readonly exposed: readonly string[]
  /** Where the cluster reaches it: `web:80`. */
  readonly internal: readonly string[]
  /** Whose development container stands in for it: `ann@laptop`. */
  readonly development?: string
  /** Why it is not ready, in words. */
  readonly reason?: string
}

/** How an environment is. */
export interface Overview {
  /** Undefined: it was never deployed, or is destroyed. */
  readonly record: EnvironmentRecord | undefined
  /** Sorted by service. */
  readonly services: readonly ServiceOverview[]
}

/** Kinds that show the state of workloads, besides their own kinds and those of routes. */
const OTHERS = [
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
    ...OTHERS.map(([apiVersion, kind]) => list(apiVersion, kind)),
  ])
  const objects = lists.flat()
  const gateways = await gatewaysOf(cluster, objects, options)
  const urls = objects.filter(isRoute).flatMap(route => addressesOf(route, gateways))
  const seen: Seen = { objects, warnings, urls, now }
  const services = objects
    .filter(one => isWorkload(one) && !isDependant(one))
    .flatMap(workload => statesOf(workload, seen))
  return { record, services: services.sort((a, b) => (a.service < b.service ? -1 : 1)) }
}

/** The observed state of an environment. */
interface Seen {
  readonly objects: readonly KubeObject[]
  readonly warnings: Warnings
  readonly urls: readonly { readonly url: string; readonly services: readonly string[] }[]
  readonly now: number
}

interface Container {
  readonly name: string
  readonly image?: string
}
interface PodFields {
  readonly containers?: readonly Container[]
  readonly initContainers?: readonly (Container & { readonly restartPolicy?: string })[]
}
interface ContainerStatus {
  readonly name: string
  readonly restartCount?: number
}

/** A workload's service, and those that run in its Pods. */
function statesOf(workload: KubeObject, seen: Seen): readonly ServiceOverview[] {
  const service = serviceOf(workload)
  const running = containersOf(workload)
  const own = running.find(({ name }) => name === service) ?? running[0]
  const first = stateOf(workload, service ?? workload.metadata.name, own, seen)
  if (service === undefined) return [first]
  const members = new Set(seen.objects.filter(({ kind }) => kind === 'Service').map(serviceOf))
  const others = running.filter(({ name }) => name !== service && members.has(name))
  return [first, ...others.map(one => stateOf(workload, one.name, one, seen))]
}

/** The containers that run in the Pods of a workload. */
function containersOf(workload: KubeObject): readonly Container[] {
  const { template } = (workload['spec'] ?? {}) as { readonly template?: { readonly spec?: PodFields } } // its spec
  const { containers = [], initContainers = [] } = template?.spec ?? {}
  return [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')]
}

function stateOf(original: KubeObject, service: string, usual: Container | undefined, seen: Seen): ServiceOverview {
  const { objects, warnings, urls, now } = seen
  const mirror = mirrorOf(original, objects)
  const workload = mirror ?? original
  const container = mirror ? (containersOf(mirror).find(one => one.name === usual?.name) ?? usual) : usual
  const { kind, metadata } = workload
  const sets = objects.filter(one => one.kind === 'ReplicaSet')
  const all = objects.filter(
    one => one.kind === 'Pod' && serviceOf(one) === serviceOf(workload) && belongsTo(one, workload),
  )
  const pods = newestPods(workload, sets, all)
  const claimed = new Set(pods.flatMap(claimsOf))
  const claims = objects.filter(one => one.kind === 'PersistentVolumeClaim' && claimed.has(one.metadata.name))
  const status = statusOf(workload)
  const isWell = status.state === 'ready' || status.state === 'complete'
  const [problem] = isWell
    ? []
    : [
        ...workloadProblems(workload, warnings.about(workload)),
        ...claims.flatMap(claim => claimProblems(claim, warnings.about(claim))),
        ...pods.flatMap(pod => podProblems(pod, warnings.about(pod), now)),
      ]
  const services = objects.filter(one => one.kind === 'Service' && serviceOf(one) === service)
  const names = new Set(services.map(one => one.metadata.name))
  const made = pods.map(pod => pod.metadata.creationTimestamp ?? '').sort()[0]
  const reason = problem ? reasonOf(problem, service) : isWell ? undefined : waitingText(status)
  return {
    service,
    kind,
    workload: `${kind.toLowerCase()}/${metadata.name}`,
    state: problem ? 'failed' : status.state,
    ...countsOf(workload),
    restarts: pods.reduce((sum, pod) => sum + restartsIn(pod, container?.name), 0),
    since: made || metadata.creationTimestamp,
    image: container?.image,
    addresses: [...new Set(urls.filter(one => one.services.some(name => names.has(name))).map(({ url }) => url))].sort(
      (a, b) => shorterFirst({ url: a }, { url: b }),
    ),
    exposed: [...new Set(services.flatMap(exposedOf))],
    internal: services.filter(one => one.metadata.name === service).flatMap(portsOf),
    ...(mirror && { development: upRecordOf(original)?.by ?? '' }),
    ...(reason !== undefined && { reason }),
  }
}

/**
 * ``the healthcheck of `web` runs `curl`, which its image does not have``;
 * `its image cannot be pulled: not found`: on one line.
 */
function reasonOf(problem: Problem, service: string): string {
  const { message } = remedyOf(problem, undefined, service)
  if (message !== undefined) return message
  const { code, detail, ends } = problem
  // The kubelet's own words are about its back-off.
  if (ends) return `${SHORT[code]}: exit code ${ends.exitCode}${ends.reason === 'OOMKilled' ? ', out of memory' : ''}`
  const [first = ''] = detail.split('\n')
  const line = first.trim().replace(/:$/, '')
  return line === '' ? SHORT[code] : `${SHORT[code]}: ${line}`
}

/** The part of a status beyond the kind and the count. */
const waitingText = ({ text, state }: WorkloadStatus): string =>
  state === 'failed' ? text : (/, (its old Pods end)$/.exec(text)?.[1] ?? (text === 'Job running' ? 'runs' : 'starts'))

interface Counts {
  readonly ready: number
  readonly wanted: number
}

function countsOf({ kind, spec, status }: KubeObject): Counts {
  const wanted = (spec ?? {}) as { readonly replicas?: number; readonly completions?: number } // a workload's spec
  const is = (status ?? {}) as {
    readonly readyReplicas?: number
    readonly numberReady?: number
    readonly desiredNumberScheduled?: number
    readonly succeeded?: number
  } // its status
  if (kind === 'Job') return { ready: is.succeeded ?? 0, wanted: wanted.completions ?? 1 }
  if (kind === 'DaemonSet') return { ready: is.numberReady ?? 0, wanted: is.desiredNumberScheduled ?? 0 }
  return { ready: is.readyReplicas ?? 0, wanted: wanted.replicas ?? 1 }
}

function restartsIn(pod: KubeObject, container: string | undefined): number {
  const { containerStatuses = [], initContainerStatuses = [] } = (pod['status'] ?? {}) as {
    readonly containerStatuses?: readonly ContainerStatus[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
  } // a Pod's status
  return [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === container)?.restartCount ?? 0
}

function portsOf({ metadata, spec }: KubeObject): readonly string[] {
  const { ports = [] } = (spec ?? {}) as { readonly ports?: readonly { readonly port: number }[] } // a Service's spec
  return [...new Set(ports.map(({ port }) => `${metadata.name}:${port}`))]
}

/**
 * Addresses of a Service of type LoadBalancer or NodePort. One whose load balancer is not made yet
 * has `<pending>`, in the words of kubectl.
 */
function exposedOf({ spec, status }: KubeObject): readonly string[] {
  const { type, ports = [] } = (spec ?? {}) as {
    readonly type?: string
    readonly ports?: readonly { readonly port: number; readonly nodePort?: number }[]
  } // a Service's spec
  if (type === 'NodePort') return ports.flatMap(({ nodePort }) => (nodePort === undefined ? [] : `<node>:${nodePort}`))
  if (type !== 'LoadBalancer') return []
  const { loadBalancer } = (status ?? {}) as {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] }
  } // its status
  const entries = (loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? [])
  const hosts = entries.length > 0 ? entries : ['<pending>']
  return hosts.flatMap(host => ports.map(({ port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`))
}
