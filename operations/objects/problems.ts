import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Warning } from './events.ts'
import { TRIER } from './labels.ts'
import { isOlderFailure } from './replica-sets.ts'

/** Why a workload does not get ready; waiting longer would not help. */
export interface Problem {
  readonly code:
    | 'image-pull'
    | 'crash-loop'
    | 'configuration'
    | 'unschedulable'
    | 'unhealthy'
    | 'refused'
    | 'claim'
    | 'serves'
  /** The object, as kubectl names it: `pod/web-7d49-j2fnt`. */
  readonly where: string
  readonly pod: KubeObject | undefined
  readonly container: string | undefined
  /** In the cluster's words. */
  readonly detail: string
  /** Milliseconds since 1970: when Pods were last refused, where the cluster tells. */
  readonly time?: number
  /** How often the container ended, and with what. */
  readonly ends?: { readonly count: number; readonly exitCode: number; readonly reason?: string }
}

interface ContainerStatus {
  readonly name: string
  readonly ready?: boolean
  /** False until its startup probe, if it has one, has passed. */
  readonly started?: boolean
  readonly restartCount: number
  readonly state?: ContainerState
  readonly lastState?: ContainerState
}
interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly running?: { readonly startedAt?: string }
  readonly terminated?: { readonly exitCode: number; readonly reason?: string }
}
interface Probe {
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
  readonly failureThreshold?: number
}
/** The fields of a Pod that count here. */
interface Pod {
  readonly spec?: {
    readonly containers?: readonly {
      readonly name: string
      readonly readinessProbe?: Probe
      readonly startupProbe?: Probe
    }[]
  }
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason?: string
      readonly message?: string
      readonly lastTransitionTime?: string
    }[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
    readonly containerStatuses?: readonly ContainerStatus[]
  }
}

const IMAGE = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
])
const CONFIGURATION = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'])
/** Failed mounts are tried again; the first may come from a Secret that is just being made. */
const MOUNTS = new Set(['FailedMount', 'FailedAttachVolume', 'FailedMapVolume'])
/**
 * A mount that waits for the kubelet's copy of a Secret or ConfigMap, on a busy node several times
 * (kubernetes/kubernetes#99475): nothing in the objects is wrong.
 */
const STALE_COPY = /failed to sync (?:secret|configmap) cache|object "[^"]*"\/"[^"]*" not registered/

/**
 * The message of a shell, or the runtime, about a program that is not in the image: its name is in
 * one of the groups.
 */
export const NO_PROGRAM =
  /exec: "([^"]+)": (?:executable file not found|stat [^:]+: no such file)|(?:^|[\s"])(?:\/bin\/)?(?:ba|a|da|z)?sh: (?:(?:line )?\d+: )?([^\s:]+): (?:command )?not found/

/**
 * Restarts after which a container that ends counts as one that cannot work: the first may come
 * from a dependency that is still starting.
 */
const TOLERATED_RESTARTS = 2
/**
 * Milliseconds that a Pod may be without a node before that counts: an autoscaler, or a claim, may
 * take some.
 */
const SCHEDULING_GRACE = 15_000
/** Milliseconds that a container gets in any case before its failing health check counts. */
const HEALTH_GRACE = 30_000

/**
 * True if the kubelet retries by itself, after ten to fifteen seconds at first: the problem can be
 * about an attempt from before the cause was fixed.
 */
export const isTriedAgain = ({ code }: Problem): boolean => code === 'image-pull' || code === 'configuration'

/**
 * The problems that keep a Pod from being ready; none for one that is well, on its way, or ending.
 * `now` is in milliseconds since 1970; `before` is how often each container had been restarted when
 * the deploy first saw it at work: those restarts do not count. `since` is when its workload was
 * last changed: a failing health check counts from then on.
 */
export function podProblems(
  pod: KubeObject,
  warnings: readonly Warning[],
  now: number,
  before: ReadonlyMap<string, number> = new Map(),
  since = 0,
): readonly Problem[] {
  if (pod.metadata.deletionTimestamp !== undefined) return []
  const { spec, status = {} } = pod as unknown as Pod // the server has checked its shape
  const found: Problem[] = []
  const where = `pod/${pod.metadata.name}`
  const add = (code: Problem['code'], detail: string, more: Partial<Problem> = {}) =>
    found.push({ code, where, pod, container: undefined, detail, ...more })
  for (const one of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
    const container = one.name
    const { reason = '', message = '' } = one.state?.waiting ?? {}
    if (IMAGE.has(reason)) add('image-pull', imageDetail(warnings, message || reason), { container })
    else if (CONFIGURATION.has(reason)) add('configuration', message || reason, { container })
    else if (
      one.restartCount - (before.get(container) ?? 0) >= TOLERATED_RESTARTS &&
      (reason === 'CrashLoopBackOff' || one.state?.terminated)
    )
      add('crash-loop', message, { container, ends: endsOf(one) })
    else {
      const { readinessProbe, startupProbe } = spec?.containers?.find(({ name }) => name === container) ?? {}
      const probe = one.started === false ? (startupProbe ?? readinessProbe) : readinessProbe
      const check = probe && !one.ready && one.state?.running && lastCheck(warnings, startOf(one))
      // A program that is not there does not come with time.
      if (check && (isUnhealthy(one, probe, now, since) || NO_PROGRAM.test(check)))
        add('unhealthy', check, { container })
    }
  }
  const scheduled = status.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable') {
    const since = Date.parse(scheduled.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '')
    if (now - since >= SCHEDULING_GRACE) add('unschedulable', scheduled.message ?? '')
  }
  const mount = warnings.findLast(({ reason, message }) => MOUNTS.has(reason) && !STALE_COPY.test(message))
  if (mount && status.phase === 'Pending' && (mount.count > 1 || /not found/.test(mount.message)))
    add('configuration', mount.message)
  return found
}

/**
 * The problems that keep a workload from having Pods: the cluster refuses to create them. `sets` are the ReplicaSets
 * that are known: what happens to an older one says nothing.
 */
export function workloadProblems(
  workload: KubeObject,
  warnings: readonly Warning[],
  sets: readonly KubeObject[],
): readonly Problem[] {
  if (isOlderFailure(workload, sets)) return []
  const where = `${workload.kind.toLowerCase()}/${workload.metadata.name}`
  const status = (workload['status'] ?? {}) as NonNullable<Pod['status']> // conditions have one shape
  const since = changedAt(workload)
  const failure = status.conditions?.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
  // An event lasts an hour, and a condition until the next attempt: one from before the last change
  // says nothing. Both count whole seconds.
  const event = warnings.findLast(({ reason, time }) => reason === 'FailedCreate' && time > since)
  const isNew =
    event !== undefined || (Date.parse(failure?.lastTransitionTime ?? '') || Number.POSITIVE_INFINITY) > since
  // A Deployment has a condition for as long as its newest Pods are refused: the events of its
  // ReplicaSet alone may be over.
  const detail = (isNew ? failure?.message : undefined) ?? (workload.kind === 'Deployment' ? undefined : event?.message)
  if (
    detail === undefined ||
    !/forbidden|denied|exceeded quota|violates|is invalid|failed calling webhook/.test(detail)
  )
    return []
  return [{ code: 'refused', where, pod: undefined, container: undefined, detail, ...(event && { time: event.time }) }]
}

/**
 * Milliseconds since 1970: when somebody last wrote what is wanted of an object, or gave it a fresh
 * chance.
 */
export function changedAt({ metadata }: KubeObject): number {
  const times = (metadata.managedFields ?? [])
    .filter(({ manager, subresource }) => subresource === undefined && manager !== TRIER)
    .map(({ time }) => Date.parse(time ?? '') || 0)
  return Math.max(0, ...times)
}

/** The problems that keep a claim from being bound. One that waits for its first Pod is well. */
export function claimProblems(claim: KubeObject, warnings: readonly Warning[]): readonly Problem[] {
  const { phase } = (claim['status'] ?? {}) as { readonly phase?: string } // a claim's status
  const where = `persistentvolumeclaim/${claim.metadata.name}`
  const event = warnings.findLast(({ reason }) => reason === 'ProvisioningFailed')
  const detail = phase === 'Lost' ? 'its volume is gone' : phase === 'Pending' ? event?.message : undefined
  return detail === undefined ? [] : [{ code: 'claim', where, pod: undefined, container: undefined, detail }]
}

/** How the last container of a Pod that ended in an error ended. */
export function lastEnd(pod: KubeObject): Problem['ends'] {
  const { status = {} } = pod as unknown as Pod // the server has checked its shape
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  const failed = all.findLast(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  return failed && endsOf(failed)
}

/** True if a Pod is ready, as its health checks say; of one without, whether its containers run. True for a ready node. */
export function isReady({ status = {} }: KubeObject): boolean {
  const { conditions } = status as NonNullable<Pod['status']> // a Pod's status, or a node's
  return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

/** True if a health check says when a Pod is ready. */
export function isProbed(pod: KubeObject): boolean {
  const { spec } = pod as unknown as Pod // the server has checked its shape
  return spec?.containers?.some(({ readinessProbe }) => readinessProbe !== undefined) ?? false
}

/** How often each container that is at work has been started again. */
export function restartsOf(pod: KubeObject): ReadonlyMap<string, number> {
  const { status = {} } = pod as unknown as Pod // the server has checked its shape
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  return new Map(all.filter(({ state }) => state?.running).map(({ name, restartCount }) => [name, restartCount]))
}

/** True if a container of the Pod has started, or the Pod has finished. */
export function hasStarted(pod: KubeObject): boolean {
  const { status = {} } = pod as unknown as Pod // the server has checked its shape
  return status.phase === 'Running' || status.phase === 'Succeeded'
}

/**
 * `ErrImagePull` has the registry's own words; the back-off that follows says less than the event
 * before it.
 */
function imageDetail(warnings: readonly Warning[], message: string): string {
  const pull = warnings.findLast(({ reason, message }) => reason === 'Failed' && message.startsWith('Failed to pull'))
  return withoutLayers(/back-off/i.test(message) && pull ? pull.message : message)
}

/** The prefixes that the kubelet, its protocol and containerd each put before the actual error. */
const LAYERS =
  /^(?:failed to (?:pull|pull and unpack|resolve)(?: image| reference) "[^"]*": |rpc error: code = \w+ desc = )/i

function withoutLayers(message: string): string {
  const rest = message.replace(LAYERS, '')
  return rest === message ? message : withoutLayers(rest)
}

function endsOf({ state, lastState, restartCount }: ContainerStatus): NonNullable<Problem['ends']> {
  const last = state?.terminated ?? lastState?.terminated
  return { count: restartCount + 1, exitCode: last?.exitCode ?? 0, ...(last?.reason && { reason: last.reason }) }
}

/** The message of the last health check since the container started. */
const lastCheck = (warnings: readonly Warning[], since: number): string | undefined =>
  warnings.findLast(({ reason, time }) => reason === 'Unhealthy' && time >= since)?.message

const startOf = ({ state }: ContainerStatus): number => Date.parse(state?.running?.startedAt ?? '') || 0

/**
 * As Compose counts: the check has failed as often as it may, after the time in which it may fail.
 */
function isUnhealthy(one: ContainerStatus, probe: Probe, now: number, since: number): boolean {
  const { initialDelaySeconds = 0, periodSeconds = 10, timeoutSeconds = 1, failureThreshold = 3 } = probe
  const allowed = 1000 * (initialDelaySeconds + failureThreshold * periodSeconds + timeoutSeconds)
  return now - Math.max(startOf(one), since) > Math.max(HEALTH_GRACE, allowed)
}
