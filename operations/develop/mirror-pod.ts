import type { Change, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { AGENT_CONTAINER, FILL_CONTAINER } from '../../constructs/mirror/names.ts'
import type { Clock } from '../objects/clock.ts'
import { toWarning, type Warning } from '../objects/events.ts'
import { unlessForbidden } from '../objects/forbidden.ts'
import { podProblems } from '../objects/problems.ts'
import { isEnding } from '../objects/removal.ts'

/** Milliseconds in which the cluster says whether a Pod is still there. */
const ASKING = 5000

export interface MirrorPodQuery {
  readonly namespace: string
  /** A label selector. */
  readonly labels: string
  /** The name of the development container, for messages. */
  readonly dev: string
}

/** The state of a container, as the kubelet reports it. */
export interface ContainerStatus {
  readonly name: string
  readonly containerID?: string
  readonly image?: string
  /** False before its startup probe has succeeded. */
  readonly started?: boolean
  readonly state?: {
    readonly waiting?: { readonly reason?: string }
    readonly running?: { readonly startedAt?: string }
    readonly terminated?: TerminatedContainer
  }
  /** Before its last start. */
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
  readonly initContainerStatuses?: readonly ContainerStatus[]
  readonly containerStatuses?: readonly ContainerStatus[]
}

/** What a Pod does before its agent answers. */
export const FILLING = 'copies the files of the image'

/** The Pod of a mirror, as a watch sees it. */
export class MirrorPod {
  readonly #cluster: Cluster
  readonly #query: MirrorPodQuery
  readonly #clock: Clock
  readonly #pods = new Map<string, KubeObject>()
  readonly #events = new Map<string, KubeObject>()
  readonly #listeners = new Set<() => void>()
  #failure: unknown

  constructor(cluster: Cluster, query: MirrorPodQuery, clock: Clock) {
    this.#cluster = cluster
    this.#query = query
    this.#clock = clock
  }

  /** Watches until the signal is aborted. */
  watch(signal: AbortSignal): void {
    const { namespace, labels } = this.#query
    const fail = (error: unknown) => {
      if (signal.aborted) return
      this.#failure = error
      this.#changed()
    }
    void this.#follow(this.#pods, { apiVersion: 'v1', kind: 'Pod', namespace, labels }, signal).catch(fail)
    const events = { apiVersion: 'v1', kind: 'Event', namespace, fields: 'involvedObject.kind=Pod' }
    void unlessForbidden(this.#follow(this.#events, events, signal), undefined).catch(fail)
  }

  /** The newest Pod that is not ending. */
  get current(): KubeObject | undefined {
    const all = [...this.#pods.values()].filter(one => !isEnding(one))
    return all.sort((a, b) => createdAt(b) - createdAt(a))[0]
  }

  /**
   * True if the cluster says that the Pod is being deleted, or is gone: a watch hears of it later.
   * False if it cannot be asked.
   */
  async isLeaving({ metadata: { name, uid } }: KubeObject, signal: AbortSignal): Promise<boolean> {
    const ref = { apiVersion: 'v1', kind: 'Pod', name, namespace: this.#query.namespace }
    try {
      const live = await this.#cluster.get(ref, { signal: withTimeLimit(ASKING, signal) })
      return !live || live.metadata.uid !== uid || isEnding(live)
    } catch {
      signal.throwIfAborted()
      return false
    }
  }

  /** What the Pod does now, in a few words. */
  get text(): string {
    const pod = this.current
    return pod ? doingOf(pod, this.#eventsAbout(pod)) : 'waits for the Pod'
  }

  /**
   * Waits until `look` gives something for the current Pod. `on` hears each new text on the way.
   * Throws a UserError as soon as waiting cannot help, and after `timeout` milliseconds.
   */
  async until<Found>(
    look: (pod: KubeObject) => Found | undefined,
    { signal, timeout, on }: { signal: AbortSignal; timeout: number; on?: ((text: string) => void) | undefined },
  ): Promise<Found> {
    const either = withTimeLimit(timeout, signal)
    for (;;) {
      if (this.#failure) throw this.#failure
      const pod = this.current
      const found = pod && look(pod)
      if (found !== undefined) return found
      if (pod) this.#refuse(pod)
      on?.(this.text)
      if (either.aborted) {
        signal.throwIfAborted()
        throw new UserError(`the Pod of \`${this.#query.dev}\` did not start within ${timeout / 1000} s`, {
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

  #refuse(pod: KubeObject): void {
    const [problem] = podProblems(pod, this.#warningsAbout(pod), this.#clock.now())
    // Some are gone a moment later: a Secret that is not seen yet, a node that comes.
    if (!problem || problem.code === 'unhealthy') return
    throw new UserError(
      `${problem.where} of \`${this.#query.dev}\` does not start: ${problem.detail || problem.code}`,
      {
        notes: problem.container === undefined ? [] : [`container \`${problem.container}\``],
        hint: `\`kubectl describe ${problem.where}\` shows more; \`devctl down\` restores the original`,
      },
    )
  }

  #eventsAbout({ metadata: { uid } }: KubeObject): readonly KubeObject[] {
    return [...this.#events.values()].filter(
      one => (one['involvedObject'] as { uid?: string } | undefined)?.uid === uid,
    )
  }

  #warningsAbout(pod: KubeObject): readonly Warning[] {
    return this.#eventsAbout(pod)
      .filter(one => one['type'] === 'Warning')
      .map(toWarning)
      .sort((a, b) => a.time - b.time)
  }

  async #follow(
    objects: Map<string, KubeObject>,
    query: Parameters<Cluster['watch']>[0],
    signal: AbortSignal,
  ): Promise<void> {
    for await (const change of this.#cluster.watch(query, { signal })) {
      take(objects, change)
      this.#changed()
    }
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Once a second in any case: some problems are such only after a while. */
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

/** The status of a container of the Pod that is no init container; undefined before the kubelet has told of it. */
export const containerStatus = (pod: KubeObject, container: string): ContainerStatus | undefined =>
  statusOf(pod).containerStatuses?.find(({ name }) => name === container)

/** True if a container of the Pod runs now. */
export function runs(pod: KubeObject, container: string): boolean {
  const { initContainerStatuses = [], containerStatuses = [] } = statusOf(pod)
  const all = [...initContainerStatuses, ...containerStatuses]
  return all.some(one => one.name === container && one.state?.running !== undefined)
}

/** True if a container runs, or will at any moment: all that has to be over before is over. */
export function mayRun(pod: KubeObject, container: string): boolean {
  const { initContainerStatuses = [] } = statusOf(pod)
  const at = initContainerStatuses.findIndex(({ name }) => name === container)
  const before = at === -1 ? initContainerStatuses : initContainerStatuses.slice(0, at)
  const isOver = ({ state, started }: ContainerStatus) =>
    state?.terminated?.exitCode === 0 || (state?.running !== undefined && started === true)
  return runs(pod, container) || (before.length > 0 && before.every(isOver))
}

/** What a Pod does, in a few words; `events` are those about it. */
export function doingOf(pod: KubeObject, events: readonly KubeObject[]): string {
  const { phase, initContainerStatuses = [], containerStatuses = [] } = statusOf(pod)
  const pulling = events.findLast(one => one['reason'] === 'Pulling' || one['reason'] === 'Pulled')
  if (pulling?.['reason'] === 'Pulling') return String(pulling['message']).replace(/^Pulling image "(.*)"$/, 'pulls $1')
  const busy = initContainerStatuses.find(one => one.state?.running && one.name !== AGENT_CONTAINER)
  if (busy) return busy.name === FILL_CONTAINER ? FILLING : `runs init container ${busy.name}`
  const ended = endOfAgent([...initContainerStatuses, ...containerStatuses])
  if (ended !== undefined) return ended
  if (phase === 'Running') return 'runs'
  const waiting = containerStatuses.find(one => one.state?.waiting)?.state?.waiting?.reason
  return waiting === undefined ? 'waits for a node' : 'starts'
}

/** Why the agent does not run: it has ended by itself, and the kubelet starts it again. */
function endOfAgent(containers: readonly ContainerStatus[]): string | undefined {
  const { state, lastState } = containers.find(({ name }) => name === AGENT_CONTAINER) ?? {}
  if (!state || state.running) return undefined
  const ended = state.terminated ?? lastState?.terminated
  if (!ended || ended.exitCode === 0) return undefined
  if (ended.reason === 'OOMKilled') return 'has no agent: it ran out of memory (`agent.resources` of the manifest)'
  const lines = (ended.message ?? '').split('\n').filter(line => line.trim() !== '')
  const words = lines.find(line => /^\w*Error\b/.test(line)) ?? lines.at(-1)
  return `has no agent: it ended with exit code ${ended.exitCode}${words === undefined ? '' : `: ${words.trim()}`}`
}
