import { backOff, pause } from '../../adapters/http/back-off.ts'
import { AgentError, type PodAgent } from '../../adapters/ssh/agent-client.ts'

/** Milliseconds between attempts to reach the agent: the first, and the longest. */
const FIRST_PAUSE = 200
const LONGEST_PAUSE = 5000

/**
 * The agent of a development container: its Pod may be replaced and its connection lost, and those
 * who use it wait for the next.
 */
export class AgentLink {
  #agent: PodAgent | undefined
  readonly #waiting = new Set<(agent: PodAgent) => void>()
  readonly #listeners = new Set<(agent: PodAgent) => void>()

  /**
   * Connects, and connects again when the connection is lost, until the signal is aborted: that is when the Pod is
   * replaced. Does not reject; calls `failed` with each failure.
   */
  async keep(
    open: (signal: AbortSignal) => Promise<PodAgent>,
    signal: AbortSignal,
    failed: (error: unknown) => void = () => {},
  ): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const agent = await open(signal)
        failures = 0
        await this.#use(agent, signal)
      } catch (error) {
        if (!signal.aborted) failed(error)
      }
      await pause(backOff(failures + 1, FIRST_PAUSE, LONGEST_PAUSE), signal).catch(() => {})
    }
  }

  /**
   * The agent that is connected, or the next one; rejects with an AgentError after some
   * milliseconds, or with the reason of the signal.
   */
  current(milliseconds: number, signal?: AbortSignal): Promise<PodAgent> {
    if (this.#agent) return Promise.resolve(this.#agent)
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(late)
        this.#waiting.delete(take)
        signal?.removeEventListener('abort', abort)
      }
      const take = (agent: PodAgent) => {
        end()
        resolve(agent)
      }
      const abort = () => {
        end()
        reject(signal?.reason)
      }
      const late = setTimeout(() => {
        end()
        reject(new AgentError('lost', 'the development container is not connected'))
      }, milliseconds)
      this.#waiting.add(take)
      signal?.addEventListener('abort', abort, { once: true })
      if (signal?.aborted) abort()
    })
  }

  /** Calls with the agent that is connected, and with each later one; gives the undo. */
  onConnected(listener: (agent: PodAgent) => void): () => void {
    this.#listeners.add(listener)
    if (this.#agent) listener(this.#agent)
    return () => void this.#listeners.delete(listener)
  }

  async #use(agent: PodAgent, signal: AbortSignal): Promise<void> {
    const close = () => agent.close()
    signal.addEventListener('abort', close, { once: true })
    if (signal.aborted) close()
    this.#agent = agent
    for (const take of [...this.#waiting]) take(agent)
    for (const listener of this.#listeners) listener(agent)
    await agent.ended
    if (this.#agent === agent) this.#agent = undefined
    signal.removeEventListener('abort', close)
  }
}
