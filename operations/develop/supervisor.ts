import type { Duplex } from 'node:stream'
import { pause } from '../../adapters/http/back-off.ts'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'
import type { Attached, SyncEngine } from '../../sync/sync.ts'
import type { SessionState } from './control/messages.ts'
import { type MirrorPod, runs } from './mirror-pod.ts'

/** Milliseconds between two attempts to connect: the first, and the longest. */
const FIRST_PAUSE = 200
const LONGEST_PAUSE = 5000
/** Milliseconds for which credentials may be refused before the session ends. */
const UNAUTHORIZED = 300_000

/** What a session is made of. */
export interface SupervisedParts {
  readonly pod: MirrorPod
  /** The container in which the command runs. */
  readonly container: string
  /** The container with the agent. */
  readonly agent: string
  readonly sync: SyncEngine
  /** The key of the session, which both ends prove to have. */
  readonly key: Uint8Array
  /** Milliseconds for the Pod to start. */
  readonly timeout: number
  /** Opens a connection to the agent in a Pod. */
  connect(pod: KubeObject, signal: AbortSignal): Promise<Duplex>
  /** Called with each Pod whose agent is connected; the signal is aborted when that is lost. */
  connected(pod: KubeObject, signal: AbortSignal): void
  /** Hears of each change of state. */
  on(state: SessionState, text: string): void
}

/** A Pod that is in sync, and whose container runs. */
export interface Ready {
  readonly pod: KubeObject
  readonly attached: Attached
  /** Aborted when the connection to it is lost. */
  readonly lost: AbortSignal
}

/**
 * Keeps one development container connected: waits for its Pod, connects to the agent, and does so
 * again when the connection breaks or the Pod is replaced, until the signal is aborted.
 */
export class Supervisor {
  readonly #parts: SupervisedParts
  #ready: Ready | undefined
  readonly #waiting = new Set<(ready: Ready) => void>()

  constructor(parts: SupervisedParts) {
    this.#parts = parts
  }

  /** The Pod that is connected and in sync now. */
  get ready(): Ready | undefined {
    return this.#ready
  }

  /** Waits for a Pod that is in sync. */
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
   * True if the Pod is being deleted, or is gone: then the connection to it is closed, and the next
   * Pod is waited for. What runs in a Pod ends before the connection does.
   */
  async leaveEnding({ pod, attached }: Ready, signal: AbortSignal): Promise<boolean> {
    if (!(await this.#parts.pod.isLeaving(pod, signal))) return false
    attached.close()
    return true
  }

  /** Throws a UserError for what does not pass by itself, and the reason of the signal. */
  async run(signal: AbortSignal): Promise<never> {
    const { on } = this.#parts
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
        if (!isPassing(error)) throw error
        if (error.failure === 'unauthorized') {
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

  /** Gives why the connection ended. */
  async #connectOnce(signal: AbortSignal, lost: AbortController): Promise<string> {
    const { pod: pods, agent, container, timeout, on, connect, connected, sync, key } = this.#parts
    const pod = await pods.until(one => (runs(one, agent) ? one : undefined), {
      signal,
      timeout,
      on: text => on('starting', text),
    })
    on('connecting', pod.metadata.name)
    const stream = await connect(pod, signal)
    // Refused while it was opened: nothing would be heard of it any more.
    if (stream.destroyed) throw stream.errored ?? new ClusterError('unreachable', 'the connection is closed')
    const attached = sync.attach(stream, key)
    try {
      const either = AbortSignal.any([signal, lost.signal])
      connected(pod, either)
      on('syncing', '')
      const ended = attached.ended.then(error => ({ error }))
      // Rejected, with a reason that may be over, when the connection ends.
      const synced = attached.synced.catch(() => ended)
      const first = await Promise.race([synced, ended])
      if (first) return first.error.message
      const running = pods.until(one => (runs(one, container) ? one : undefined), {
        signal: either,
        timeout,
        on: text => on('starting', text),
      })
      const started = await Promise.race([running, ended])
      if (isEnd(started)) return started.error.message
      this.#isReady({ pod: started, attached, lost: lost.signal })
      on('ready', started.metadata.name)
      return (await ended).error.message
    } finally {
      lost.abort()
      attached.close()
    }
  }

  #isReady(ready: Ready): void {
    this.#ready = ready
    for (const resolve of [...this.#waiting]) resolve(ready)
  }
}

const isEnd = (one: KubeObject | { readonly error: Error }): one is { readonly error: Error } => 'error' in one

/** True for failures of the cluster that may be over at the next attempt. */
const isPassing = (error: unknown): error is ClusterError =>
  error instanceof ClusterError &&
  (error.failure === 'unreachable' ||
    error.failure === 'unavailable' ||
    error.failure === 'unauthorized' ||
    error.failure === 'not-found')

/** The agent's container runs, and the agent is not there yet; or the Pod has just gone. */
const isStarting = (error: ClusterError): boolean => error.failure === 'not-found'
