import type { Duplex } from 'node:stream'
import { pause } from '../../adapters/http/back-off.ts'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'
import type { Attached } from '../../sync/protocol/attachment.ts'
import type { SyncEngine } from '../../sync/session/sync.ts'
import type { SessionState } from '../control/messages.ts'
import { FILLING, type MirrorPod, mayRun, runs } from '../mirror/mirror-pod.ts'
import { isTransientForPod } from '../retry-transient.ts'
import type { Credentials } from './credentials.ts'
import { dialAgent } from './dial-agent.ts'

/** Initial and maximum delay between two connection attempts, in milliseconds. */
const FIRST_PAUSE = 200
const LONGEST_PAUSE = 5000
/** Time for which credentials may be refused before the session ends, in milliseconds. */
const UNAUTHORIZED = 300_000

/** Initial and maximum polling interval for checking whether the container runs, in milliseconds. */
const ASK_FIRST = 50
const ASK_LONGEST = 500

/** Components of a session that the supervisor connects to the Pod. */
export interface SupervisedParts {
  readonly pod: MirrorPod
  /** Name of the container in which the command runs. */
  readonly container: string
  /** Name of the container with the agent. */
  readonly agent: string
  readonly sync: SyncEngine
  /** Key of the session; both ends prove that they have it. */
  readonly key: Uint8Array
  /** Timeout for the start of the first Pod, in milliseconds. */
  readonly timeout: number
  readonly credentials: Credentials
  /** Opens a connection to the agent's port in a Pod; the agent may not be listening yet. */
  connect(pod: KubeObject, signal: AbortSignal): Promise<Duplex>
  /** True if commands can be run in the container of a Pod. */
  isRunning(pod: KubeObject, signal: AbortSignal): Promise<boolean>
  /** Called with each Pod whose agent is connected; the signal is aborted when the connection is lost. */
  connected(pod: KubeObject, signal: AbortSignal): void
  /** Called at each state change. */
  on(state: SessionState, text: string): void
}

/** A Pod that is in sync and whose container is running. */
export interface Ready {
  readonly pod: KubeObject
  readonly attached: Attached
  /** Aborted with the reason when the connection to the Pod is lost. */
  readonly lost: AbortSignal
}

/**
 * Keeps one development container connected: waits for its Pod, connects to the agent, and reconnects when the
 * connection is lost or the Pod is replaced, until the signal is aborted.
 */
export class Supervisor {
  readonly #parts: SupervisedParts
  #ready: Ready | undefined
  #wasReady = false
  /**
   * Pod whose connection was lost. Kept until the reason for its end is reported, because the cluster learns the reason
   * later.
   */
  #left: KubeObject | undefined
  readonly #waiting = new Set<(ready: Ready) => void>()

  constructor(parts: SupervisedParts) {
    this.#parts = parts
  }

  /** Returns the Pod that is currently connected and in sync; undefined if there is none. */
  get ready(): Ready | undefined {
    return this.#ready
  }

  /** Waits for a Pod that is in sync and whose container is running. */
  untilReady(signal: AbortSignal): Promise<Ready> {
    if (this.#ready) return Promise.resolve(this.#ready)
    return new Promise((resolve, reject) => {
      const done = (ready: Ready) => {
        this.#waiting.delete(done)
        signal.removeEventListener('abort', abort)
        resolve(ready)
      }
      const abort = () => {
        this.#waiting.delete(done)
        reject(signal.reason)
      }
      this.#waiting.add(done)
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
    })
  }

  /**
   * Returns a message if the Pod is being deleted or was deleted; undefined if not. Before it returns a message, it
   * closes the connection to the Pod, so that callers wait for the next Pod. Without this, they would use the old Pod
   * longer: its programs end before the connection does.
   */
  async leaveEnding({ pod, attached }: Ready, signal: AbortSignal): Promise<string | undefined> {
    const why = await this.#parts.pod.leaving(pod, signal)
    if (why !== undefined) attached.close()
    return why
  }

  /** Returns the reason why a Pod has ended, as far as the cluster has reported it. */
  endOf(pod: KubeObject): string | undefined {
    return this.#parts.pod.endOf(pod)
  }

  /** Connects and reconnects until the signal is aborted. Throws permanent errors and the signal's abort reason. */
  async run(signal: AbortSignal): Promise<never> {
    const { on, credentials } = this.#parts
    let next = FIRST_PAUSE
    let refusedSince: number | undefined
    for (;;) {
      const lost = new AbortController()
      try {
        const began = performance.now()
        const reason = await this.#connectOnce(signal, lost)
        signal.throwIfAborted()
        refusedSince = undefined
        if (performance.now() - began > LONGEST_PAUSE) next = FIRST_PAUSE
        on('reconnecting', reason)
      } catch (error) {
        signal.throwIfAborted()
        if (!isTransientForPod(error)) throw error
        if (error.failure === 'unauthorized') {
          credentials.refused(error)
          refusedSince ??= performance.now()
          if (performance.now() - refusedSince > UNAUTHORIZED) throw error
        }
        if (!isStarting(error)) on('reconnecting', error.message)
      } finally {
        this.#ready = undefined
        lost.abort()
      }
      await pause(next, signal)
      next = Math.min(next * 2, LONGEST_PAUSE)
    }
  }

  /** Connects once. When the connection has ended, returns the reason. */
  async #connectOnce(signal: AbortSignal, lost: AbortController): Promise<string> {
    const { pod: pods, agent, on, connected, sync, key, credentials } = this.#parts
    const pod = await pods.until(one => (mayRun(one, agent) ? one : undefined), {
      signal,
      timeout: this.#timeout,
      on: text => {
        this.#tellEnd()
        on('starting', text)
      },
    })
    this.#tellEnd()
    const stream = await this.#dial(pod, signal)
    credentials.accepted()
    on('connecting', pod.metadata.name)
    const attached = sync.attach(stream, key)
    try {
      const either = AbortSignal.any([signal, lost.signal])
      connected(pod, either)
      on('syncing', '')
      const ended = attached.ended.then(error => ({ error }))
      // If the connection ends, `synced` rejects with an error that may be transient, so wait for `ended` instead.
      const synced = attached.synced.catch(() => ended)
      const first = await Promise.race([synced, ended])
      if (first) return this.#reasonOf(pod, first.error)
      void attached.ended.then(error => lost.abort(error))
      const started = await Promise.race([this.#untilRunning(pod, either), ended])
      if (isEnd(started)) return this.#reasonOf(pod, started.error)
      this.#isReady({ pod: started, attached, lost: lost.signal })
      on('ready', started.metadata.name)
      return this.#reasonOf(pod, (await ended).error)
    } finally {
      lost.abort()
      attached.close()
    }
  }

  /** Returns the reason why the connection to a Pod has ended, as far as it is known. */
  #reasonOf(pod: KubeObject, error: Error): string {
    const end = this.#parts.pod.endOf(pod)
    this.#left = end === undefined ? pod : undefined
    return end ?? error.message
  }

  #tellEnd(): void {
    const end = this.#left && this.#parts.pod.endOf(this.#left)
    if (end === undefined) return
    this.#left = undefined
    this.#parts.on('reconnecting', end)
  }

  /** Connects to the agent of a Pod as soon as the agent answers. Throws if the Pod was replaced or does not start. */
  async #dial(pod: KubeObject, signal: AbortSignal): Promise<Duplex> {
    const { pod: pods, on, connect } = this.#parts
    const stop = new AbortController()
    const either = AbortSignal.any([signal, stop.signal])
    const gone = pods.until(one => one.metadata.uid !== pod.metadata.uid || undefined, {
      signal: either,
      timeout: this.#timeout,
      on: text => {
        if (text !== 'runs') on('starting', text)
        // A Pod that was connected before already has its files.
        else if (!this.#wasReady) on('starting', FILLING)
      },
    })
    const failing = gone.then(() => {
      throw new ClusterError('not-found', `pod/${pod.metadata.name} has been replaced`)
    })
    try {
      return await Promise.race([dialAgent(() => connect(pod, signal), either), failing])
    } finally {
      stop.abort()
      failing.catch(() => {})
    }
  }

  /**
   * Waits until the container is running. Also checks the container directly, because its status is reported about a
   * second late.
   */
  async #untilRunning(pod: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const { pod: pods, agent, container, on, isRunning } = this.#parts
    if (agent === container) return pod
    const stop = new AbortController()
    const either = AbortSignal.any([signal, stop.signal])
    const asked = async () => {
      for (let wait = ASK_FIRST; !(await isRunning(pod, either)); wait = Math.min(wait * 1.5, ASK_LONGEST))
        await pause(wait, either)
      return pod
    }
    const told = pods.until(one => (runs(one, container) ? one : undefined), {
      signal: either,
      timeout: this.#timeout,
      on: text => on('starting', text),
    })
    const all = [asked(), told]
    try {
      return await Promise.race(all)
    } finally {
      stop.abort()
      for (const one of all) one.catch(() => {})
    }
  }

  /**
   * Timeout for the start of a Pod, in milliseconds. Undefined if the session was ready before, because the session
   * then waits for its next Pod without a limit.
   */
  get #timeout(): number | undefined {
    return this.#wasReady ? undefined : this.#parts.timeout
  }

  #isReady(ready: Ready): void {
    this.#ready = ready
    this.#wasReady = true
    this.#left = undefined
    for (const resolve of [...this.#waiting]) resolve(ready)
  }
}

const isEnd = (one: KubeObject | { readonly error: Error }): one is { readonly error: Error } => 'error' in one

/** True if the agent's container is running but the agent does not listen yet, or if the Pod was just deleted. */
const isStarting = (error: ClusterError): boolean => error.failure === 'not-found'
