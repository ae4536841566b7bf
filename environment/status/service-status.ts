import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import { isWorkload } from '../../constructs/kinds.ts'
import { lastingContainers, templateOf } from '../../constructs/manifest.ts'
import { isMirror, mirrorOf } from '../apply/suspended.ts'
import { shorterFirst } from '../endpoints/routes.ts'
import { serviceOf } from '../plan/desired-state.ts'
import { keysOfMissing } from '../plan/missing-secret.ts'
import { upRecordOf } from '../record/up-record.ts'
import { untilFirstCheck } from '../rollout/first-check.ts'
import { newestPods } from '../rollout/revisions.ts'
import { statusOf, type WorkloadStatus } from '../rollout/status.ts'
import { belongsTo, claimsOf, type ObservedWorkload } from '../rollout/tracker.ts'
import type { Warnings } from './events.ts'
import { SHORT } from './failures.ts'
import { remedyOf, reportedOf } from './hints.ts'
import { isDependant } from './owners.ts'
import { claimProblems, type Problem, podProblems, workloadProblems } from './problems.ts'
import { noNodeText, WAITS_FOR_VOLUME, waitOf } from './waiting.ts'

/**
 * State of a service. `stopped`: it has no replicas, and should have none. `asleep`: it has none because a platform has
 * put its namespace to sleep.
 */
export type ServiceStatus = WorkloadStatus['state'] | 'stopped' | 'asleep'

/** State of a service of an environment. */
export interface ServiceOverview {
  /** Service name in Kubernetes form; for objects created by commands, the name of the workload. */
  readonly service: string
  /**
   * Workload in kubectl notation, such as `deployment/web`. A service in the Pods of another service has the workload
   * of that service.
   */
  readonly kind: string
  readonly workload: string
  readonly state: ServiceStatus
  /** Number of ready Pods (`ready`), and number of Pods that should be ready (`wanted`). */
  readonly ready: number
  readonly wanted: number
  readonly restarts: number
  /** Creation time of the service's newest Pods, or of its workload if there are no Pods (ISO 8601). */
  readonly since: string | undefined
  readonly image: string | undefined
  /** Public addresses, shorter ones first. */
  readonly addresses: readonly string[]
  /**
   * Addresses for TCP or UDP from outside the cluster: `203.0.113.7:1883` of a load balancer, `<node>:31883` of a port
   * of every node.
   */
  readonly exposed: readonly string[]
  /** Addresses within the cluster, such as `web:80`. */
  readonly internal: readonly string[]
  /**
   * Owner of the development container that stands in for the service, such as `ann@laptop`; absent if there is no such
   * container.
   */
  readonly development?: string
  /** Reason why the service is not ready, as text for users. */
  readonly reason?: string
}

/** State of an environment at one time. */
export interface EnvironmentSnapshot {
  readonly objects: readonly KubeObject[]
  readonly warnings: Warnings
  readonly urls: readonly { readonly url: string; readonly services: readonly string[] }[]
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Service, with the objects and findings that its state is based on. */
export interface ObservedService {
  readonly overview: ServiceOverview
  /**
   * Workload that runs the service: usually the service's own workload; during development, the Deployment (mirror)
   * that stands in for it.
   */
  readonly workload: KubeObject
  readonly found: Pick<ObservedWorkload, 'status' | 'pods' | 'problems' | 'warnings'>
}

/**
 * Returns the services of an environment, sorted, without its CronJobs, which have no state. Takes linear time in the
 * number of objects.
 */
export function listServices(seen: EnvironmentSnapshot): readonly ObservedService[] {
  const indexed = indexOf(seen)
  return seen.objects
    .filter(one => isWorkload(one) && one.kind !== 'CronJob' && !isDependant(one))
    .flatMap(workload => statesOf(workload, indexed))
    .sort((a, b) => (a.overview.service < b.overview.service ? -1 : 1))
}

/**
 * Returns the overview of a service in a namespace that a platform has put to sleep: the state is `asleep` instead of
 * `stopped`. Other states stay unchanged.
 */
export const inSleep = (overview: ServiceOverview): ServiceOverview =>
  overview.state === 'stopped' ? { ...overview, state: 'asleep' } : overview

/** Index of a snapshot, for fast lookups. */
interface Indexed extends Pick<EnvironmentSnapshot, 'warnings' | 'now'> {
  of(service: string | undefined, kind: string): readonly KubeObject[]
  readonly claims: ReadonlyMap<string, KubeObject>
  readonly mirrors: readonly KubeObject[]
  /** URLs by the name of the Service behind them. */
  readonly urlsOf: ReadonlyMap<string, readonly string[]>
}

function indexOf({ objects, warnings, urls, now }: EnvironmentSnapshot): Indexed {
  const groups = new Map<string, KubeObject[]>()
  for (const one of objects) {
    const key = `${one.kind} ${serviceOf(one) ?? ''}`
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  const urlsOf = new Map<string, string[]>()
  for (const { url, services } of urls)
    for (const name of services) urlsOf.set(name, [...(urlsOf.get(name) ?? []), url])
  return {
    warnings,
    now,
    of: (service, kind) => groups.get(`${kind} ${service ?? ''}`) ?? [],
    claims: new Map(
      objects.flatMap(one => (one.kind === 'PersistentVolumeClaim' ? [[one.metadata.name, one] as const] : [])),
    ),
    mirrors: objects.filter(isMirror),
    urlsOf,
  }
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

/** Returns the states of a workload's service, and of the services that run in its Pods. */
function statesOf(workload: KubeObject, seen: Indexed): readonly ObservedService[] {
  const service = serviceOf(workload)
  const running = containersOf(workload)
  const own = running.find(({ name }) => name === service) ?? running[0]
  const first = stateOf(workload, service ?? workload.metadata.name, own, seen)
  if (service === undefined) return [first]
  const others = running.filter(({ name }) => name !== service && seen.of(name, 'Service').length > 0)
  return [first, ...others.map(one => stateOf(workload, one.name, one, seen))]
}

/** Returns the containers that keep running in the Pods of a workload. */
const containersOf = (workload: KubeObject): readonly Container[] =>
  lastingContainers(templateOf<{ readonly spec?: PodFields }>(workload)?.spec ?? {})

function stateOf(
  original: KubeObject,
  service: string,
  usual: Container | undefined,
  { of, claims, mirrors, urlsOf, warnings, now }: Indexed,
): ObservedService {
  const mirror = mirrorOf(original, mirrors)
  const workload = mirror ?? original
  const container = mirror ? (containersOf(mirror).find(one => one.name === usual?.name) ?? usual) : usual
  const { kind, metadata } = workload
  const lead = serviceOf(workload)
  const sets = of(lead, 'ReplicaSet')
  const pods = newestPods(
    workload,
    sets,
    of(lead, 'Pod').filter(pod => belongsTo(pod, workload)),
  )
  const mounted = [...new Set(pods.flatMap(claimsOf))].flatMap(name => claims.get(name) ?? [])
  const status = statusOf(workload, pods)
  const isWell = status.state === 'ready' || status.state === 'complete'
  const own = [workload, ...(kind === 'Deployment' ? sets.filter(set => isOwnedBy(set, workload)) : [])]
  const problems = isWell
    ? []
    : [
        ...workloadProblems(workload, warnings.about(workload), sets),
        ...mounted.flatMap(claim => claimProblems(claim, warnings.about(claim), now)),
        ...pods.flatMap(pod => podProblems(pod, warnings.about(pod), now)).map(asWaiting),
      ]
  const problem = problems.find(one => !one.isPassing) ?? problems[0]
  const services = of(service, 'Service')
  const urls = services.flatMap(one => urlsOf.get(one.metadata.name) ?? [])
  const made = pods.map(pod => pod.metadata.creationTimestamp ?? '').sort()[0]
  const rest = Math.max(0, ...pods.map(pod => untilFirstCheck(pod, now)))
  const wait = pods.map(waitOf).find(one => one !== undefined)
  const waits = rest > 0 ? `first check in ${readableDuration(rest)}` : waitingText(status, wait)
  const reason = problem ? reasonOf(problem, service, workload) : isWell ? undefined : waits
  const counts = countsOf(workload)
  const isStopped = status.state === 'ready' && counts.wanted === 0 && kind !== 'DaemonSet'
  const overview: ServiceOverview = {
    service,
    kind,
    workload: `${kind.toLowerCase()}/${metadata.name}`,
    state: problem && !problem.isPassing ? 'failed' : isStopped ? 'stopped' : status.state,
    ...counts,
    restarts: pods.reduce((sum, pod) => sum + restartsIn(pod, container?.name), 0),
    since: made || metadata.creationTimestamp,
    image: container?.image,
    addresses: [...new Set(urls)].sort((a, b) => shorterFirst({ url: a }, { url: b })),
    exposed: [...new Set(services.flatMap(exposedOf))],
    internal: services.filter(one => one.metadata.name === service).flatMap(portsOf),
    ...(mirror && { development: upRecordOf(original)?.by ?? '' }),
    ...(reason !== undefined && { reason }),
  }
  const about = [...own, ...mounted, ...pods].flatMap(one => warnings.about(one)).sort((a, b) => a.time - b.time)
  return { overview, workload, found: { status, pods, problems, warnings: about } }
}

const isOwnedBy = (object: KubeObject, { metadata: { uid } }: KubeObject): boolean =>
  object.metadata.ownerReferences?.some(owner => owner.uid === uid) ?? false

/**
 * Describes a problem on one line: ``the healthcheck of `web` runs `curl`, which its image does not have``; `its image
 * cannot be pulled: not found`.
 */
function reasonOf(problem: Problem, service: string, workload: KubeObject): string {
  const { message } = remedyOf(reportedOf(problem), undefined, service)
  const keys = keysOfMissing(problem, workload).map(key => `\`${key}\``)
  const needs = keys.length > 1 ? 'keys' : 'key'
  if (message !== undefined) return keys.length > 0 ? `${message}; it needs the ${needs} ${keys.join(', ')}` : message
  const { code, detail, ends, because } = problem
  if (code === 'unschedulable' && problem.isPassing)
    return because === undefined ? noNodeText(detail) : `it waits for capacity: ${because.split('\n')[0]}`
  // The kubelet's own message is about its back-off.
  if (ends) return `${SHORT[code]}: exit code ${ends.exitCode}${ends.reason === 'OOMKilled' ? ', out of memory' : ''}`
  const [first = ''] = detail.split('\n')
  const line = first.trim().replace(/:$/, '')
  const words = passingWords(problem) ?? SHORT[code]
  return line === '' ? words : `${words}: ${line}`
}

/**
 * Returns the text for a problem that may resolve itself, such as `pulls its image`; undefined for other problems, and
 * if no special text exists.
 */
function passingWords({ code, container, isPassing }: Problem): string | undefined {
  if (!isPassing) return undefined
  if (code === 'image-pull') return 'pulls its image'
  // A failed mount is a problem of the Pod, not of one container.
  return code === 'claim' || (code === 'configuration' && container === undefined) ? WAITS_FOR_VOLUME : undefined
}

/**
 * Returns a Pod's problem in the form that the state of a service shows. A Pod without a node counts as waiting,
 * however long it has waited, unless an autoscaler has refused a node. A deploy may end its wait for such a Pod
 * earlier.
 */
const asWaiting = (problem: Problem): Problem =>
  problem.code === 'unschedulable' && problem.because === undefined ? { ...problem, isPassing: true } : problem

/**
 * Returns the text for a service that is not ready: the reason in its status, or the object that its Pods wait for
 * (`wait`), or else `runs` or `starts`. For a failed service, returns the full status text.
 */
function waitingText({ text, state }: WorkloadStatus, wait: string | undefined): string {
  if (state === 'failed') return text
  return /, (its old Pods end)$/.exec(text)?.[1] ?? wait ?? (text === 'Job running' ? 'runs' : 'starts')
}

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
 * Returns the addresses of a Service of type LoadBalancer or NodePort. If the load balancer does not exist yet, the
 * address is `<pending>`, as in kubectl.
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
