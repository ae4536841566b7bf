import {
  type Change,
  type Cluster,
  ClusterError,
  type KubeObject,
  type LogOptions,
} from '../../../adapters/kubernetes/cluster.ts'
import { FakeClock } from './fake-clock.ts'

interface Run {
  readonly lines: { readonly stamp: string; readonly seconds: number; readonly text: string }[]
  exit: number | undefined
}
interface Container {
  readonly name: string
  readonly runs: Run[]
}
interface Pod {
  readonly object: KubeObject
  readonly containers: readonly Container[]
  phase: string
}

/**
 * Pods with logs that a test writes, and a clock that advances as they write. Implements the part of a Cluster that
 * logs need.
 */
export class FakePods extends FakeClock {
  readonly #pods = new Map<string, Pod>()
  readonly #wake = new Set<() => void>()
  readonly #changes: Change[] = []
  /** Every call of `logs`: `api-0/api follow`. */
  readonly calls: string[] = []
  /** Every change of a Job. */
  readonly jobs: KubeObject[] = []
  #cuts = 0
  /** Error that `logs` throws. */
  refusal: ClusterError | undefined

  readonly cluster = {
    name: 'fake',
    namespace: 'shop',
    pages: () => onePage(this.objects),
    get: async ({ name }: { name: string }) => {
      const pod = this.#pods.get(name)
      return pod && this.#objectOf(pod)
    },
    watch: (query: { kind: string }, { signal }: { signal?: AbortSignal }) =>
      query.kind === 'Job' ? this.#watchJobs(signal) : this.#watch(signal),
    logs: (pod: { name: string }, options: LogOptions) => this.#logs(pod.name, options),
  } as unknown as Cluster // what logs do not use is not there

  get objects(): readonly KubeObject[] {
    return [...this.#pods.values()].map(pod => this.#objectOf(pod))
  }

  add(
    name: string,
    service: string,
    { containers = [service], owner }: { containers?: string[]; owner?: string } = {},
  ) {
    const labels = {
      'dev.platform/environment': 'shop',
      'dev.platform/service': service,
      'app.kubernetes.io/managed-by': 'devctl',
    }
    const ownerReferences = owner
      ? [{ apiVersion: 'batch/v1', kind: 'Job', name: owner, uid: owner, controller: true }]
      : []
    if (owner) this.#changeJob(owner, {})
    const object: KubeObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...{ name, namespace: 'shop', uid: `${name}-uid`, labels, ownerReferences },
        creationTimestamp: new Date(this.now()).toISOString(),
      },
      spec: { containers: containers.map(name => ({ name })) },
    }
    this.#pods.set(name, { object, containers: containers.map(name => ({ name, runs: [] })), phase: 'Pending' })
    this.#tell(name)
  }

  /**
   * The container begins a run; the one before has ended. With `report`, the default, the cluster reports it at once.
   */
  start(pod: string, container = serviceOf(pod), report = true): void {
    this.#container(pod, container).runs.push({ lines: [], exit: undefined })
    this.#pods.get(pod)!.phase = 'Running'
    if (report) this.#tell(pod)
  }

  /** Writes lines, each a millisecond after the one before, or with a given time of the day. */
  write(
    pod: string,
    texts: readonly string[],
    { container = serviceOf(pod), at }: { container?: string; at?: string } = {},
  ) {
    const run = this.#container(pod, container).runs.at(-1)!
    for (const text of texts) {
      this.skip(1)
      const stamp = at ? `2026-01-01T${at}Z` : `${new Date(this.now()).toISOString().slice(0, -1)}000000Z`
      run.lines.push({ stamp, seconds: Math.floor(Date.parse(stamp) / 1000), text })
    }
    this.#wakeAll()
  }

  /** Ends the process of a container; with `report`, the default, the cluster reports it at once. */
  end(pod: string, exit: number, { container = serviceOf(pod), phase = 'Running', report = true } = {}): void {
    this.#container(pod, container).runs.at(-1)!.exit = exit
    this.#pods.get(pod)!.phase = phase
    if (report) this.#tell(pod)
    this.#wakeAll()
  }

  remove(name: string): void {
    const object = this.#objectOf(this.#pods.get(name)!)
    for (const { runs } of this.#pods.get(name)!.containers) if (runs.length > 0) runs.at(-1)!.exit ??= 137
    this.#pods.delete(name)
    this.#changes.push({ type: 'Deleted', object })
    this.#wakeAll()
  }

  finishJob(name: string, type: 'Complete' | 'Failed'): void {
    this.#changeJob(name, { conditions: [{ type, status: 'True' }] })
    this.#wakeAll()
  }

  /** Every open log breaks off. */
  cut(): void {
    this.#cuts++
    this.#wakeAll()
  }

  #changeJob(name: string, status: object): void {
    this.jobs.push({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace: 'shop' }, status })
  }

  #container(pod: string, name: string): Container {
    return this.#pods.get(pod)!.containers.find(one => one.name === name)!
  }

  #objectOf({ object, containers, phase }: Pod): KubeObject {
    const terminated = (run: Run, index: number) => ({
      terminated: { exitCode: run.exit, containerID: `run-${index}` },
    })
    const containerStatuses = containers.map(({ name, runs }) => {
      const [index, before] = [runs.length - 1, runs.at(-2)]
      const run = runs[index]
      const state = !run ? { waiting: {} } : run.exit === undefined ? { running: {} } : terminated(run, index)
      const lastState = before ? terminated(before, index - 1) : {}
      return { name, restartCount: Math.max(0, index), containerID: run && `run-${index}`, state, lastState }
    })
    return { ...object, status: { phase, containerStatuses } }
  }

  #tell(name: string): void {
    this.#changes.push({ type: 'Changed', object: this.#objectOf(this.#pods.get(name)!) })
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const wake of [...this.#wake]) wake()
  }

  #somethingNew(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (finish: () => void) => () => {
        this.#wake.delete(onWake)
        signal?.removeEventListener('abort', onAbort)
        finish()
      }
      const onWake = end(resolve)
      const onAbort = end(() => reject(signal?.reason))
      if (signal?.aborted) return onAbort()
      this.#wake.add(onWake)
      signal?.addEventListener('abort', onAbort)
    })
  }

  async *#watch(signal: AbortSignal | undefined): AsyncGenerator<Change> {
    let next = this.#changes.length
    yield { type: 'Restarted' }
    for (const pod of this.#pods.values()) yield { type: 'Changed', object: this.#objectOf(pod) }
    for (;;) {
      while (next < this.#changes.length) yield this.#changes[next++]!
      await this.#somethingNew(signal)
    }
  }

  async *#watchJobs(signal: AbortSignal | undefined): AsyncGenerator<Change> {
    yield { type: 'Restarted' }
    let next = 0
    while (next < this.jobs.length) yield { type: 'Changed', object: this.jobs[next++]! }
    yield { type: 'Listed' }
    for (;;) {
      while (next < this.jobs.length) yield { type: 'Changed', object: this.jobs[next++]! }
      await this.#somethingNew(signal)
    }
  }

  async *#logs(name: string, options: LogOptions): AsyncGenerator<string> {
    const { container, follow, previous, tailLines, sinceSeconds, sinceTime, timestamps, signal } = options
    this.calls.push(
      [`${name}/${container}`, ...(follow ? ['follow'] : []), ...(previous ? ['previous'] : [])].join(' '),
    )
    await new Promise(resolve => setImmediate(resolve))
    signal?.throwIfAborted()
    if (this.refusal) throw this.refusal
    const found = this.#pods.get(name)?.containers.find(one => one.name === container)
    if (!found) throw new ClusterError('not-found', `pods "${name}" not found`)
    const run = found.runs.at(previous ? -2 : -1)
    if (!run) throw new ClusterError('invalid', `container "${container}" is waiting to start`)
    const since = sinceTime
      ? Math.floor(Date.parse(sinceTime) / 1000)
      : sinceSeconds
        ? Math.floor(this.now() / 1000) - sinceSeconds
        : 0
    const cuts = this.#cuts
    const text = ({ stamp, text }: Run['lines'][number]) => (timestamps ? `${stamp} ${text}` : text)
    const first = tailLines === undefined ? 0 : Math.max(0, run.lines.length - tailLines)
    for (let next = first; ; ) {
      for (; next < run.lines.length; next++) if (run.lines[next]!.seconds >= since) yield text(run.lines[next]!)
      if (!follow || run.exit !== undefined) return
      await this.#somethingNew(signal)
      if (cuts < this.#cuts) throw new ClusterError('unreachable', 'the connection was cut')
    }
  }
}

const serviceOf = (pod: string): string => pod.slice(0, pod.lastIndexOf('-'))

async function* onePage(objects: readonly KubeObject[]): AsyncGenerator<readonly KubeObject[], void> {
  yield objects
}
