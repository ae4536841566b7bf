import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { DRY_RUN_FIELD_MANAGER } from '../labels.ts'
import { isOlderFailure } from '../rollout/replica-sets.ts'
import { checkWords, NO_PROGRAM } from './check-words.ts'
import type { Warning } from './events.ts'
import { controllerOf } from './owners.ts'
import { isPassingCreation, isPassingPull, isPassingVolume } from './passing-errors.ts'
import { attemptedAt, firstStart, type SeenContainer, type SeenPod, type SeenProbe, statusesOf } from './pod-fields.ts'
import { noNodeOf } from './unschedulable.ts'

/** Reason why a workload does not become ready; waiting longer does not help, unless it `isPassing`. */
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
  /** Message of the cluster. */
  readonly detail: string
  /** Milliseconds since 1970: when Pods were last refused, where the cluster tells. */
  readonly time?: number
  /** Number of exits of the container, with the last exit code and reason. */
  readonly ends?: { readonly count: number; readonly exitCode: number; readonly reason?: string }
  /** True if it may pass: it ends no wait, and is reported at the deadline. */
  readonly isPassing?: boolean
  /** Reason why it may pass, if the cluster reports one. */
  readonly because?: string
  /**
   * Milliseconds since 1970: when the program was last tried. Set if the kubelet tries it again by itself, so that the
   * cause may be gone by then.
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
/** Failed mounts are tried again; the first may come from a Secret that is just being made. */
const MOUNTS = new Set(['FailedMount', 'FailedAttachVolume', 'FailedMapVolume'])
/**
 * A mount that waits for the kubelet's copy of a Secret or ConfigMap, on a busy node several times
 * (kubernetes/kubernetes#99475): nothing in the objects is wrong.
 */
const STALE_COPY = /failed to sync (?:secret|configmap) cache|object "[^"]*"\/"[^"]*" not registered/

/**
 * Restarts after which a container that ends counts as one that cannot work: the first may come
 * from a dependency that is still starting.
 */
const TOLERATED_RESTARTS = 2
/** Milliseconds that a claim without a storage class may wait for a volume before that counts. */
const CLAIM_GRACE = 15_000
/** Milliseconds that a container gets in any case before its failing health check counts. */
const HEALTH_GRACE = 30_000

/**
 * True if the kubelet retries by itself, after ten to fifteen seconds at first: the problem can be
 * about an attempt from before the cause was fixed.
 */
export const isTriedAgain = ({ code }: Problem): boolean => code === 'image-pull' || code === 'configuration'

/**
 * Returns the problems that keep a Pod from being ready; none for a Pod that is healthy, starting, or ending. `now` is
 * in milliseconds since 1970. `before` has the number of restarts of each container when the deploy first saw it
 * running: those do not count. `since` is the time of the last change to its workload: a failing health check counts
 * from then on.
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
  // A Job counts the attempts of its Pods by itself, and says when it has failed.
  const isOfJob = controllerOf(pod)?.kind === 'Job'
  for (const one of statusesOf(seen)) {
    const container = one.name
    const { reason = '', message = '' } = one.state?.waiting ?? {}
    // The kubelet retries init containers, and then continues with the Pod.
    const isRetried = isOfJob || isInit(seen, one)
    const attempt = { container, isPassing: isRetried, attemptedAt: attemptedAt(one) ?? now }
    if (IMAGE.has(reason)) {
      const { detail, isPassing } = pullError(warnings, message || reason)
      add('image-pull', detail, { container, isPassing })
    } else if (reason === 'RunContainerError') add('configuration', message || reason, attempt)
    else if (CONFIGURATION.has(reason))
      add('configuration', message || reason, { container, isPassing: isPassingCreation(message) })
    else if (
      one.restartCount - (before.get(container) ?? 0) >= TOLERATED_RESTARTS &&
      (reason === 'CrashLoopBackOff' || one.state?.terminated)
    )
      add('crash-loop', message, { ...attempt, ends: endsOf(one) })
    else {
      const { readinessProbe, startupProbe } = spec?.containers?.find(({ name }) => name === container) ?? {}
      const probe = one.started === false ? (startupProbe ?? readinessProbe) : readinessProbe
      const check = probe && !one.ready && one.state?.running && lastCheck(warnings, startOf(one))
      // A missing program does not appear over time.
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

/** True for an init container that ends, such as a `pre_start` hook: no sidecar. */
function isInit({ spec, status = {} }: SeenPod, one: SeenContainer): boolean {
  if (!status.initContainerStatuses?.includes(one)) return false
  return spec?.initContainers?.find(({ name }) => name === one.name)?.restartPolicy !== 'Always'
}

/**
 * The newest mount that failed and counts, one that cannot pass before others. A container starts when all volumes are
 * mounted: what failed before the `first` one is over.
 */
function failedMount(warnings: readonly Warning[], first = 0): Warning | undefined {
  const failed = warnings.filter(
    ({ reason, message, time, count }) =>
      MOUNTS.has(reason) && !STALE_COPY.test(message) && time > first && (count > 1 || /not found/.test(message)),
  )
  return failed.findLast(one => !isPassingMount(one)) ?? failed.at(-1)
}

/** A disk is attached as soon as the node that has it lets it go, or the cloud is done. */
const isPassingMount = ({ reason, message }: Warning): boolean =>
  reason === 'FailedAttachVolume' || isPassingVolume(message)

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
  const status = (workload['status'] ?? {}) as NonNullable<SeenPod['status']> // conditions have one shape
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
 * Returns the time in milliseconds since 1970 at which the wanted state of an object was last written, or its last
 * retry requested.
 */
export function changedAt({ metadata }: KubeObject): number {
  const times = (metadata.managedFields ?? [])
    .filter(({ manager, subresource }) => subresource === undefined && manager !== DRY_RUN_FIELD_MANAGER)
    .map(({ time }) => Date.parse(time ?? '') || 0)
  return Math.max(0, ...times)
}

/**
 * The problems that keep a claim from being bound. One that waits for its first Pod is well. `now` is in milliseconds
 * since 1970.
 */
export function claimProblems(claim: KubeObject, warnings: readonly Warning[], now = 0): readonly Problem[] {
  const { phase } = (claim['status'] ?? {}) as { readonly phase?: string } // a claim's status
  const where = `persistentvolumeclaim/${claim.metadata.name}`
  const event = warnings.findLast(({ reason }) => reason === 'ProvisioningFailed')
  const pending = event?.message ?? (isWithoutClass(claim, now) ? NO_CLASS : undefined)
  const detail = phase === 'Lost' ? 'its volume is gone' : phase === 'Pending' ? pending : undefined
  if (detail === undefined) return []
  const isPassing = phase === 'Pending' && isPassingVolume(detail)
  return [{ code: 'claim', where, pod: undefined, container: undefined, detail, ...(isPassing && { isPassing }) }]
}

/** The words of Kubernetes, which come as an event that is no warning. */
const NO_CLASS = 'no persistent volumes available for this claim and no storage class is set'

/** True if nothing provisions a volume for a claim: it has no class, and the cluster has given it no default one. */
function isWithoutClass({ metadata, spec }: KubeObject, now: number): boolean {
  const { storageClassName = '', volumeName } = (spec ?? {}) as {
    readonly storageClassName?: string
    readonly volumeName?: string
  } // a claim's spec
  const age = now - (Date.parse(metadata.creationTimestamp ?? '') || now)
  return storageClassName === '' && volumeName === undefined && age >= CLAIM_GRACE
}

/** Returns the exit of the last container of a Pod that exited with an error. */
export function lastEnd(pod: KubeObject): (NonNullable<Problem['ends']> & { readonly container: string }) | undefined {
  const all = statusesOf(pod as unknown as SeenPod) // the server has checked its shape
  const failed = all.findLast(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  return failed && { ...endsOf(failed), container: failed.name }
}

/**
 * True if a Pod is ready, as its health checks say; of one without, whether its containers run. True for a ready node.
 */
export function isReady({ status = {} }: KubeObject): boolean {
  const { conditions } = status as NonNullable<SeenPod['status']> // a Pod's status, or a node's
  return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

/** True if a health check says when a Pod is ready. */
export function isProbed(pod: KubeObject): boolean {
  const { spec } = pod as unknown as SeenPod // the server has checked its shape
  return spec?.containers?.some(({ readinessProbe }) => readinessProbe !== undefined) ?? false
}

/** Returns the number of restarts of each running container. */
export function restartsOf(pod: KubeObject): ReadonlyMap<string, number> {
  const all = statusesOf(pod as unknown as SeenPod) // the server has checked its shape
  return new Map(all.filter(({ state }) => state?.running).map(({ name, restartCount }) => [name, restartCount]))
}

/** True if a container of the Pod has started, or the Pod has finished. */
export function hasStarted(pod: KubeObject): boolean {
  const { status = {} } = pod as unknown as SeenPod // the server has checked its shape
  return status.phase === 'Running' || status.phase === 'Succeeded'
}

/**
 * `ErrImagePull` has the registry's own words; the back-off that follows says less than the event
 * before it.
 */
function pullError(warnings: readonly Warning[], message: string): Pick<Problem, 'detail' | 'isPassing'> {
  const pull = warnings.findLast(({ reason, message }) => reason === 'Failed' && message.startsWith('Failed to pull'))
  const whole = /back-off/i.test(message) && pull ? pull.message : message
  return { detail: withoutLayers(whole), isPassing: isPassingPull(whole) }
}

/** The prefixes that the kubelet, its protocol and containerd each put before the actual error. */
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

/** The message of the last health check since the container started. */
const lastCheck = (warnings: readonly Warning[], since: number): string | undefined =>
  warnings.findLast(({ reason, time }) => reason === 'Unhealthy' && time >= since)?.message

const startOf = ({ state }: SeenContainer): number => Date.parse(state?.running?.startedAt ?? '') || 0

/**
 * True if the check has failed as often as it may, after the time in which it may fail. Compose counts in the same way.
 */
function isUnhealthy(one: SeenContainer, probe: SeenProbe, now: number, since: number): boolean {
  const { initialDelaySeconds = 0, periodSeconds = 10, timeoutSeconds = 1, failureThreshold = 3 } = probe
  const allowed = 1000 * (initialDelaySeconds + failureThreshold * periodSeconds + timeoutSeconds)
  return now - Math.max(startOf(one), since) > Math.max(HEALTH_GRACE, allowed)
}
