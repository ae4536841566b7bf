import type { Change, Cluster, KubeObject, ObjectQuery } from '../../adapters/kubernetes/cluster.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { AGENT_CONTAINER, FILL_CONTAINER, TOOLS_VOLUME } from '../../constructs/mirror/names.ts'
import { isEnding } from '../../environment/apply/removal.ts'
import type { Clock } from '../../environment/clock.ts'
import { unlessForbidden } from '../../environment/forbidden.ts'
import { toWarning, type Warning } from '../../environment/status/events.ts'
import { podProblems } from '../../environment/status/problems.ts'
import { isAboutCapacity } from '../../environment/status/unschedulable.ts'
import { retryTransient } from '../retry-transient.ts'
import type { Credentials } from '../session/credentials.ts'
import { endOfPod, evictedFor, isOver } from './end-of-pod.ts'

/** Timeout for asking the cluster whether a Pod still exists, in milliseconds. */
const ASKING = 5000

export interface MirrorPodQuery {
  readonly namespace: string
  /** Label selector of the Pods. */
  readonly labels: string
  /** Name of the development container, for messages. */
  readonly dev: string
  /** True if a wait for the Pod continues although the Pod fails. */
  readonly toleratesFailures?: boolean
}

/** State of a container as reported by the kubelet. */
export interface ContainerStatus {
  readonly name: string
  readonly containerID?: string
  readonly image?: string
  /** False until the startup probe of the container has succeeded. */
  readonly started?: boolean
  readonly state?: {
    readonly waiting?: { readonly reason?: string }
    readonly running?: { readonly startedAt?: string }
    readonly terminated?: TerminatedContainer
  }
  /** State of the container before its last start. */
  readonly lastState?: { readonly terminated?: TerminatedContainer }
}

interface TerminatedContainer {
  readonly exitCode: number
  readonly message?: string
  readonly containerID?: string
  readonly reason?: string
}

interface PodStatus {
  readonly phase?: string
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  readonly initContainerStatuses?: readonly ContainerStatus[]
  readonly containerStatuses?: readonly ContainerStatus[]
}

/** Text for the end of a Pod without a known reason. */
const HAS_ENDED = 'its Pod has ended'

/** Text for a Pod whose fill container is running, before its agent answers. */
export const FILLING = 'copies the files of the image'

/** Watches the Pods of a mirror. */
export class MirrorPod {
  readonly #cluster: Cluster
  readonly #query: MirrorPodQuery
  readonly #clock: Clock
  readonly #pods = new Map<string, KubeObject>()
  readonly #events = new Map<string, KubeObject>()
  readonly #listeners = new Set<() => void>()
  /** Reasons why Pods have ended, by uid. */
  readonly #ends = new Map<string | undefined, string>()
  #lastEnd: string | undefined
  #failure: unknown

  constructor(cluster: Cluster, query: MirrorPodQuery, clock: Clock) {
    this.#cluster = cluster
    this.#query = query
    this.#clock = clock
  }

  /** Watches until the signal is aborted. */
  watch(signal: AbortSignal, credentials: Credentials): void {
    const { namespace, labels } = this.#query
    const fail = (error: unknown) => {
      if (signal.aborted) return
      this.#failure = error
      this.#changed()
    }
    const follow = (objects: Map<string, KubeObject>, query: ObjectQuery) =>
      retryTransient(heard => this.#follow(objects, query, heard, signal), credentials, signal)
    void follow(this.#pods, { apiVersion: 'v1', kind: 'Pod', namespace, labels }).catch(fail)
    const events = { apiVersion: 'v1', kind: 'Event', namespace, fields: 'involvedObject.kind=Pod' }
    void unlessForbidden(follow(this.#events, events), undefined).catch(fail)
  }

  /** Returns the newest Pod that is neither ending nor finished: an evicted Pod still exists, but never runs again. */
  get current(): KubeObject | undefined {
    const all = [...this.#pods.values()].filter(one => !isEnding(one) && !isOver(one))
    return all.sort((a, b) => createdAt(b) - createdAt(a))[0]
  }

  /**
   * Asks the cluster whether a Pod is ending or was deleted, because the watch reports this later. Returns a message
   * about the end of the Pod; undefined if the Pod continues, or if the cluster cannot be reached.
   */
  async leaving(pod: KubeObject, signal: AbortSignal): Promise<string | undefined> {
    const { name, uid } = pod.metadata
    const ref = { apiVersion: 'v1', kind: 'Pod', name, namespace: this.#query.namespace }
    try {
      const live = await this.#cluster.get(ref, { signal: withTimeLimit(ASKING, signal) })
      if (!live || live.metadata.uid !== uid) return this.endOf(pod) ?? HAS_ENDED
      return isEnding(live) || isOver(live) ? (endOfPod(live) ?? this.endOf(pod) ?? HAS_ENDED) : undefined
    } catch {
      signal.throwIfAborted()
      return undefined
    }
  }

  /** Returns the reason why the Pod has ended, as far as the cluster has reported it: `its Pod was evicted: …`. */
  endOf(pod: KubeObject): string | undefined {
    const evicted = this.#warningsAbout(pod).findLast(({ reason }) => reason === 'Evicted')
    return this.#ends.get(pod.metadata.uid) ?? (evicted && evictedFor(evicted.message))
  }

  /** Describes briefly what the Pod is doing. */
  get text(): string {
    const pod = this.current
    if (pod) return activityText(pod, this.#eventsAbout(pod))
    return this.#lastEnd === undefined ? 'waits for the Pod' : `waits for another Pod: ${this.#lastEnd}`
  }

  /**
   * Waits until `look` returns a value for the current Pod, and calls `on` with a status text on each change. Throws a
   * UserError as soon as waiting cannot help, and after `timeout` milliseconds. Without a timeout, also waits for
   * missing node resources, because a drained node may return.
   */
  async until<Found>(
    look: (pod: KubeObject) => Found | undefined,
    {
      signal,
      timeout,
      on,
    }: { signal: AbortSignal; timeout: number | undefined; on?: ((text: string) => void) | undefined },
  ): Promise<Found> {
    const either = timeout === undefined ? signal : withTimeLimit(timeout, signal)
    for (;;) {
      if (this.#failure) throw this.#failure
      const pod = this.current
      const found = pod && look(pod)
      if (found !== undefined) return found
      if (pod) this.#refuse(pod, timeout === undefined)
      on?.(this.text)
      if (either.aborted) {
        signal.throwIfAborted()
        throw new UserError(`the Pod of \`${this.#query.dev}\` did not start within ${timeout! / 1000} s`, {
          notes: [
            `it ${this.text}`,
            ...(pod ? this.#warningsAbout(pod).map(one => `${one.reason}: ${one.message}`) : []),
          ],
          hint: 'raise `timeout.resources` of the development container if it only needs longer',
        })
      }
      await this.#nextChange(either)
    }
  }

  #refuse(pod: KubeObject, isPatient: boolean): void {
    const problem = podProblems(pod, this.#warningsAbout(pod), this.#clock.now()).find(one => !one.isPassing)
    // Problems without a container concern the node, or a volume that is still attached to another node.
    if (isPatient && problem?.container === undefined) return
    // Some problems resolve within a moment, such as a Secret that is not visible yet or a node that is being added.
    if (!problem || problem.code === 'unhealthy' || this.#query.toleratesFailures) return
    const { code, container, detail } = problem
    const end = code === 'crash-loop' ? (endOfAgent(pod) ?? endOfContainer(pod, container)) : undefined
    throw new UserError(`${problem.where} of \`${this.#query.dev}\` does not start: ${end ?? (detail || code)}`, {
      notes: container === undefined ? [] : [`container \`${container}\``],
      hint: `\`kubectl describe ${problem.where}\` shows more; \`devctl down\` restores the original`,
    })
  }

  #eventsAbout({ metadata: { uid } }: KubeObject): readonly KubeObject[] {
    return [...this.#events.values()].filter(
      one => (one['involvedObject'] as { uid?: string } | undefined)?.uid === uid,
    )
  }

  #warningsAbout(pod: KubeObject): readonly Warning[] {
    return this.#eventsAbout(pod)
      .filter(one => one['type'] === 'Warning' || isAboutCapacity(toWarning(one).reason))
      .map(toWarning)
      .sort((a, b) => a.time - b.time)
  }

  async #follow(
    objects: Map<string, KubeObject>,
    query: ObjectQuery,
    heard: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    for await (const change of this.#cluster.watch(query, { signal })) {
      heard()
      take(objects, change)
      if (objects === this.#pods && 'object' in change) this.#note(change.object)
      this.#changed()
    }
  }

  #note(pod: KubeObject): void {
    const end = endOfPod(pod)
    if (end === undefined) return
    this.#ends.set(pod.metadata.uid, end)
    this.#lastEnd = end
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }

  /**
   * Waits for the next change of the Pods, but at most for one second, because some states count as problems only after
   * a while.
   */
  #nextChange(signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const done = () => {
        clearTimeout(timer)
        this.#listeners.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, 1000)
      this.#listeners.add(done)
      signal.addEventListener('abort', done, { once: true })
    })
  }
}

function take(objects: Map<string, KubeObject>, change: Change): void {
  if (change.type === 'Restarted') objects.clear()
  else if (change.type === 'Changed') objects.set(change.object.metadata.uid ?? '', change.object)
  else if (change.type === 'Deleted') objects.delete(change.object.metadata.uid ?? '')
}

const createdAt = ({ metadata }: KubeObject): number => Date.parse(metadata.creationTimestamp ?? '') || 0

const statusOf = (pod: KubeObject): PodStatus => (pod['status'] ?? {}) as PodStatus // a Pod's status

function allStatuses(pod: KubeObject): readonly ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [] } = statusOf(pod)
  return [...initContainerStatuses, ...containerStatuses]
}

/**
 * Returns the status of a container that is not an init container; undefined before the kubelet has reported the
 * status.
 */
export const containerStatus = (pod: KubeObject, container: string): ContainerStatus | undefined =>
  statusOf(pod).containerStatuses?.find(({ name }) => name === container)

interface PodContainer {
  readonly name: string
  readonly volumeMounts?: readonly { readonly name: string }[]
}

/** Returns the name of the container with the agent. In hybrid mode, this is the container of the application. */
export function agentOf(pod: KubeObject): string {
  const { initContainers = [], containers = [] } = (pod['spec'] ?? {}) as Record<string, readonly PodContainer[]>
  if ([...initContainers, ...containers].some(({ name }) => name === AGENT_CONTAINER)) return AGENT_CONTAINER
  const hasTools = ({ volumeMounts = [] }: PodContainer) => volumeMounts.some(({ name }) => name === TOOLS_VOLUME)
  return containers.find(hasTools)?.name ?? AGENT_CONTAINER
}

/** True if a container of the Pod runs now. */
export function runs(pod: KubeObject, container: string): boolean {
  return allStatuses(pod).some(one => one.name === container && one.state?.running !== undefined)
}

/**
 * True if a container is running or about to start, which means that all init containers before it have finished, or
 * have started as sidecars.
 */
export function mayRun(pod: KubeObject, container: string): boolean {
  const { initContainerStatuses = [] } = statusOf(pod)
  const at = initContainerStatuses.findIndex(({ name }) => name === container)
  const before = at === -1 ? initContainerStatuses : initContainerStatuses.slice(0, at)
  const isOver = ({ state, started }: ContainerStatus) =>
    state?.terminated?.exitCode === 0 || (state?.running !== undefined && started === true)
  return runs(pod, container) || (before.length > 0 && before.every(isOver))
}

/** Describes briefly what a Pod is doing; `events` are the events about the Pod. */
export function activityText(pod: KubeObject, events: readonly KubeObject[]): string {
  const { phase, initContainerStatuses = [], containerStatuses = [] } = statusOf(pod)
  const pulling = events.findLast(one => one['reason'] === 'Pulling' || one['reason'] === 'Pulled')
  if (pulling?.['reason'] === 'Pulling') return String(pulling['message']).replace(/^Pulling image "(.*)"$/, 'pulls $1')
  const busy = initContainerStatuses.find(one => one.state?.running && one.name !== AGENT_CONTAINER)
  if (busy) return busy.name === FILL_CONTAINER ? FILLING : `runs init container ${busy.name}`
  const ended = endOfAgent(pod)
  if (ended !== undefined) return ended
  if (phase === 'Running') return 'runs'
  const waiting = containerStatuses.find(one => one.state?.waiting)?.state?.waiting?.reason
  return waiting === undefined ? waitsForNode(pod) : 'starts'
}

/**
 * Returns the reason why a Pod is not scheduled: `waits for a node: 0/3 nodes are available: 3 node(s) were
 * unschedulable`.
 */
function waitsForNode(pod: KubeObject): string {
  const scheduled = statusOf(pod).conditions?.find(({ type }) => type === 'PodScheduled')
  // The rest of the message is about preemption of other Pods.
  const [why = ''] = (scheduled?.status === 'False' ? scheduled.message : undefined)?.split(/\. |\.$/) ?? []
  return why === '' ? 'waits for a node' : `waits for a node: ${why}`
}

/**
 * Returns the reason why the agent is not running; undefined if the agent has not failed. After a failure, the kubelet
 * restarts the agent.
 */
function endOfAgent(pod: KubeObject): string | undefined {
  const end = failureOf(pod, agentOf(pod))
  if (end?.reason === 'OOMKilled')
    return 'has no agent: it ran out of memory; raise `initContainer.resources` of the development container'
  return end && `has no agent: it ended with ${exitOf(end)}`
}

/**
 * Returns the reason why a container other than the agent is not running, with its termination message; undefined if it
 * has not failed.
 */
function endOfContainer(pod: KubeObject, container: string | undefined): string | undefined {
  const end = container === undefined ? undefined : failureOf(pod, container)
  if (end?.reason === 'OOMKilled') return `\`${container}\` ran out of memory`
  return end && `\`${container}\` ended with ${exitOf(end)}`
}

/** Returns the failure of a container that is not running; undefined if it has not failed. */
function failureOf(pod: KubeObject, container: string): TerminatedContainer | undefined {
  const { state, lastState } = allStatuses(pod).find(({ name }) => name === container) ?? {}
  const end = state?.terminated ?? (state?.running ? undefined : lastState?.terminated)
  return end?.exitCode === 0 ? undefined : end
}

function exitOf({ exitCode, message = '' }: TerminatedContainer): string {
  const lines = message.split('\n').filter(line => line.trim() !== '')
  const words = lines.find(line => /^\w*Error\b/.test(line)) ?? lines.at(-1)
  return `exit code ${exitCode}${words === undefined ? '' : `: ${words.trim()}`}`
}
