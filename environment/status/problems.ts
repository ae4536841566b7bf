import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { RETRY_FIELD_MANAGER } from '../labels.ts'
import { isOlderFailure } from '../rollout/replica-sets.ts'
import { checkWords, NO_PROGRAM } from './check-words.ts'
import { aboutContainer, type Warning } from './events.ts'
import { controllerOf } from './owners.ts'
import { isPassingCreation, isPassingPull, isPassingVolume } from './passing-errors.ts'
import {
  attemptedAt,
  firstStart,
  isInit,
  type SeenContainer,
  type SeenPod,
  type SeenProbe,
  statusesOf,
} from './pod-fields.ts'
import { noNodeOf } from './unschedulable.ts'

/** Reason why a workload does not become ready; waiting longer does not help, unless `isPassing` is true. */
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
  /** Object in kubectl notation, such as `pod/web-7d49-j2fnt`. */
  readonly where: string
  readonly pod: KubeObject | undefined
  readonly container: string | undefined
  /** Message of the cluster. */
  readonly detail: string
  /** Time of the last rejection of Pods, in milliseconds since 1970, if the cluster reports it. */
  readonly time?: number
  /** Number of exits of the container, with the last exit code and reason. */
  readonly ends?: { readonly count: number; readonly exitCode: number; readonly reason?: string }
  /** True if the problem may resolve itself: it does not end a wait, and is reported at the deadline. */
  readonly isPassing?: boolean
  /** Reason why the problem may resolve itself, if the cluster reports one. */
  readonly because?: string
  /**
   * Time of the last attempt to run the program, in milliseconds since 1970. Only set if the kubelet makes further
   * attempts without a change, and the next attempt may succeed.
   */
  readonly attemptedAt?: number
}

const IMAGE = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
])
const CONFIGURATION = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'])
/**
 * Event reasons of failed mounts, which are retried: the first attempts may fail because a Secret is still being
 * created.
 */
const MOUNTS = new Set(['FailedMount', 'FailedAttachVolume', 'FailedMapVolume'])
/**
 * Pattern for a mount or a variable that waits for the kubelet's copy of a Secret or ConfigMap, which happens on busy
 * nodes again and again (kubernetes/kubernetes#99475). The objects themselves are correct.
 */
const STALE_COPY = /failed to sync (?:secret|configmap) cache|object "[^"]*"\/"[^"]*" not registered/

/**
 * Number of restarts after which an exiting container counts as broken: the first exits may be caused by a dependency
 * that is still starting.
 */
const TOLERATED_RESTARTS = 2
/** Milliseconds that a claim without a storage class may wait for a volume before this counts as a problem. */
const CLAIM_GRACE = 15_000
/** Minimum time in milliseconds that a container gets before its failing health check counts. */
const HEALTH_GRACE = 30_000

/**
 * Returns true for problems that the kubelet retries, at first after ten to fifteen seconds. The reported problem may
 * be outdated: the cause may have been fixed after the last attempt.
 */
export const isTriedAgain = ({ code }: Problem): boolean => code === 'image-pull' || code === 'configuration'

/**
 * Returns the problems that keep a Pod from being ready; an empty list for a Pod that is healthy, starting, or ending.
 * `now` is in milliseconds since 1970. `before` contains the number of restarts of each container when the deploy first
 * saw the container running; these restarts do not count. `since` is the time of the last change to the workload; only
 * later failures of a health check count.
 */
export function podProblems(
  pod: KubeObject,
  warnings: readonly Warning[],
  now: number,
  before: ReadonlyMap<string, number> = new Map(),
  since = 0,
): readonly Problem[] {
  if (pod.metadata.deletionTimestamp !== undefined) return []
  const seen = pod as unknown as SeenPod & Pick<KubeObject, 'metadata'> // the server has checked its shape
  const { spec, status = {} } = seen
  const found: Problem[] = []
  const where = `pod/${pod.metadata.name}`
  const add = (code: Problem['code'], detail: string, { isPassing, because, ...more }: Partial<Problem> = {}) =>
    found.push({
      ...{ code, where, pod, container: undefined, detail, ...more },
      ...(isPassing && { isPassing }),
      ...(because !== undefined && { because }),
    })
  // A Job counts the attempts of its Pods itself, and reports when it has failed.
  const isOfJob = controllerOf(pod)?.kind === 'Job'
  for (const one of statusesOf(seen)) {
    const container = one.name
    const own = aboutContainer(warnings, container)
    const { reason = '', message = '' } = one.state?.waiting ?? {}
    // The kubelet retries init containers, and continues with the Pod once they succeed.
    const isRetried = isOfJob || isInit(seen, one)
    const attempt = { container, isPassing: isRetried, attemptedAt: attemptedAt(one) ?? now }
    if (IMAGE.has(reason)) {
      const { detail, isPassing } = pullError(own, message || reason)
      add('image-pull', detail, { container, isPassing })
    } else if (reason === 'RunContainerError') add('configuration', message || reason, attempt)
    else if (CONFIGURATION.has(reason)) {
      if (!STALE_COPY.test(message))
        add('configuration', message || reason, { container, isPassing: isPassingCreation(message) })
    } else if (
      one.restartCount - (before.get(container) ?? 0) >= TOLERATED_RESTARTS &&
      (reason === 'CrashLoopBackOff' || one.state?.terminated)
    )
      add('crash-loop', message, { ...attempt, ends: endsOf(one) })
    else {
      const { readinessProbe, startupProbe } = spec?.containers?.find(({ name }) => name === container) ?? {}
      const probe = one.started === false ? (startupProbe ?? readinessProbe) : readinessProbe
      const check = probe && !one.ready && one.state?.running && lastCheck(own, startOf(one))
      // A missing program does not appear with time, so it counts at once.
      if (check && (isUnhealthy(one, probe, now, since) || NO_PROGRAM.test(checkWords(check, pod, container))))
        add('unhealthy', check, { container, isPassing: isOfJob })
    }
  }
  const noNode = noNodeOf(seen, warnings, now)
  if (noNode) add('unschedulable', noNode.detail, noNode)
  const mount = status.phase === 'Pending' ? failedMount(warnings, firstStart(seen)) : undefined
  if (mount) add('configuration', mount.message, { isPassing: isPassingMount(mount) })
  return found
}

/**
 * Returns the newest warning about a failed mount; undefined if there is none. Warnings about permanent failures take
 * precedence over those about failures that may pass. `first` is the start of the Pod's first container, in
 * milliseconds since 1970: earlier warnings are ignored, because all volumes were mounted by then.
 */
function failedMount(warnings: readonly Warning[], first = 0): Warning | undefined {
  const failed = warnings.filter(
    ({ reason, message, time, count }) =>
      MOUNTS.has(reason) && !STALE_COPY.test(message) && time > first && (count > 1 || /not found/.test(message)),
  )
  return failed.findLast(one => !isPassingMount(one)) ?? failed.at(-1)
}

/**
 * Returns true if the mount may succeed later: a disk, for example, can be attached as soon as another node has
 * detached it, or the cloud provider has finished a pending operation.
 */
const isPassingMount = ({ reason, message }: Warning): boolean =>
  reason === 'FailedAttachVolume' || isPassingVolume(message)

/**
 * Returns the problem of a workload whose Pods the cluster refuses to create; an empty list if there is none. `sets`
 * are the known ReplicaSets of the workload; failures of older revisions do not count.
 */
export function workloadProblems(
  workload: KubeObject,
  warnings: readonly Warning[],
  sets: readonly KubeObject[],
): readonly Problem[] {
  if (isOlderFailure(workload, sets)) return []
  const where = `${workload.kind.toLowerCase()}/${workload.metadata.name}`
  const status = (workload['status'] ?? {}) as NonNullable<SeenPod['status']> // conditions have one shape
  const since = changedAt(workload)
  const failure = status.conditions?.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
  // An event lasts an hour, and a condition until the next attempt, so those from before the last change do not count.
  // Both have a resolution of one second.
  const event = warnings.findLast(({ reason, time }) => reason === 'FailedCreate' && time > since)
  const isNew =
    event !== undefined || (Date.parse(failure?.lastTransitionTime ?? '') || Number.POSITIVE_INFINITY) > since
  // A Deployment has a condition for as long as its newest Pods are rejected; an event of its ReplicaSet alone may be
  // outdated.
  const detail = (isNew ? failure?.message : undefined) ?? (workload.kind === 'Deployment' ? undefined : event?.message)
  if (
    detail === undefined ||
    !/forbidden|denied|exceeded quota|violates|is invalid|failed calling webhook/.test(detail)
  )
    return []
  return [{ code: 'refused', where, pod: undefined, container: undefined, detail, ...(event && { time: event.time }) }]
}

/**
 * Returns the time at which the desired state of an object was last written, or a retry last requested, in milliseconds
 * since 1970.
 */
export function changedAt({ metadata }: KubeObject): number {
  const times = (metadata.managedFields ?? [])
    .filter(({ manager, subresource }) => subresource === undefined && manager !== RETRY_FIELD_MANAGER)
    .map(({ time }) => Date.parse(time ?? '') || 0)
  return Math.max(0, ...times)
}

/**
 * Returns the problems that keep a claim from being bound. A claim that waits for its first Pod has no problem. `now`
 * is in milliseconds since 1970.
 */
export function claimProblems(claim: KubeObject, warnings: readonly Warning[], now: number): readonly Problem[] {
  const { phase } = (claim['status'] ?? {}) as { readonly phase?: string } // a claim's status
  const where = `persistentvolumeclaim/${claim.metadata.name}`
  const event = warnings.findLast(({ reason }) => reason === 'ProvisioningFailed')
  const pending = event?.message ?? (isWithoutClass(claim, now) ? NO_CLASS : undefined)
  const detail = phase === 'Lost' ? 'its volume is gone' : phase === 'Pending' ? pending : undefined
  if (detail === undefined) return []
  const isPassing = phase === 'Pending' && isPassingVolume(detail)
  return [{ code: 'claim', where, pod: undefined, container: undefined, detail, ...(isPassing && { isPassing }) }]
}

/**
 * Text of the Kubernetes event about a claim that has no storage class and finds no volume. The event is not a Warning.
 */
const NO_CLASS = 'no persistent volumes available for this claim and no storage class is set'

/**
 * Returns true if nothing provisions a volume for a claim: it has no class, and the cluster has not assigned a default
 * class.
 */
function isWithoutClass({ metadata, spec }: KubeObject, now: number): boolean {
  const { storageClassName = '', volumeName } = (spec ?? {}) as {
    readonly storageClassName?: string
    readonly volumeName?: string
  } // a claim's spec
  const age = now - (Date.parse(metadata.creationTimestamp ?? '') || now)
  return storageClassName === '' && volumeName === undefined && age >= CLAIM_GRACE
}

/**
 * Returns the exit of a Pod's container that has ended with an error and has not been started again; of several such
 * containers, the last one. Undefined if there is none.
 */
export function lastEnd(pod: KubeObject): (NonNullable<Problem['ends']> & { readonly container: string }) | undefined {
  const all = statusesOf(pod as unknown as SeenPod) // the server has checked its shape
  const failed = all.findLast(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  return failed && { ...endsOf(failed), container: failed.name }
}

/**
 * Returns true if a Pod is ready according to its health checks or, if it has none, if its containers run. Also works
 * for nodes.
 */
export function isReady({ status = {} }: KubeObject): boolean {
  const { conditions } = status as NonNullable<SeenPod['status']> // a Pod's status, or a node's
  return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

/** Returns true if a health check determines when a Pod is ready. */
export function isProbed(pod: KubeObject): boolean {
  const { spec } = pod as unknown as SeenPod // the server has checked its shape
  return spec?.containers?.some(({ readinessProbe }) => readinessProbe !== undefined) ?? false
}

/** Returns the number of restarts of each running container. */
export function restartsOf(pod: KubeObject): ReadonlyMap<string, number> {
  const all = statusesOf(pod as unknown as SeenPod) // the server has checked its shape
  return new Map(all.filter(({ state }) => state?.running).map(({ name, restartCount }) => [name, restartCount]))
}

/** Returns true if a container of the Pod has started, or the Pod has finished. */
export function hasStarted(pod: KubeObject): boolean {
  const { status = {} } = pod as unknown as SeenPod // the server has checked its shape
  return status.phase === 'Running' || status.phase === 'Succeeded'
}

/**
 * Returns the error of an image pull. If `message` is only about the back-off, uses the earlier warning instead, which
 * contains the message of the registry.
 */
function pullError(warnings: readonly Warning[], message: string): Pick<Problem, 'detail' | 'isPassing'> {
  const pull = warnings.findLast(({ reason, message }) => reason === 'Failed' && message.startsWith('Failed to pull'))
  const whole = /back-off/i.test(message) && pull ? pull.message : message
  return { detail: withoutLayers(whole), isPassing: isPassingPull(whole) }
}

/** Prefixes that the kubelet, its protocol and containerd each add before the actual error. */
const LAYERS =
  /^(?:failed to (?:pull|pull and unpack|resolve)(?: image| reference) "[^"]*": |rpc error: code = \w+ desc = )/i

function withoutLayers(message: string): string {
  const rest = message.replace(LAYERS, '')
  return rest === message ? message : withoutLayers(rest)
}

function endsOf({ state, lastState, restartCount }: SeenContainer): NonNullable<Problem['ends']> {
  const last = state?.terminated ?? lastState?.terminated
  return { count: restartCount + 1, exitCode: last?.exitCode ?? 0, ...(last?.reason && { reason: last.reason }) }
}

/**
 * Returns the message of the last failed health check at or after `since`, in milliseconds since 1970; undefined if
 * there is none.
 */
const lastCheck = (warnings: readonly Warning[], since: number): string | undefined =>
  warnings.findLast(({ reason, time }) => reason === 'Unhealthy' && time >= since)?.message

const startOf = ({ state }: SeenContainer): number => Date.parse(state?.running?.startedAt ?? '') || 0

/**
 * Returns true if a container has been unhealthy for longer than its check allows: for the start period and, as in
 * Compose, the permitted number of failures after it.
 */
function isUnhealthy(one: SeenContainer, probe: SeenProbe, now: number, since: number): boolean {
  const { initialDelaySeconds = 0, periodSeconds = 10, timeoutSeconds = 1, failureThreshold = 3 } = probe
  const allowed = 1000 * (initialDelaySeconds + failureThreshold * periodSeconds + timeoutSeconds)
  return now - Math.max(startOf(one), since) > Math.max(HEALTH_GRACE, allowed)
}
