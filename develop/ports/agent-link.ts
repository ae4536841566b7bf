import { backOff, pause } from '../../adapters/http/back-off.ts'
import { AgentError, type PodAgent } from '../../adapters/ssh/agent-client.ts'

/** Initial and maximum delay between attempts to reach the agent, in milliseconds. */
const FIRST_PAUSE = 200
const LONGEST_PAUSE = 5000

/**
 * Holds the connection to the agent of a development container. If the Pod is replaced or the connection is lost,
 * callers wait for the next connection.
 */
export class AgentLink {
  #agent: PodAgent | undefined
  readonly #waiting = new Set<(agent: PodAgent) => void>()
  readonly #listeners = new Set<(agent: PodAgent) => void>()

  /**
   * Connects, and reconnects whenever the connection is lost. Stops when the signal is aborted, which happens when the
   * Pod is replaced. Does not reject; calls `failed` with each failure.
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
   * Returns the connected agent, or waits for the next one. Rejects with an AgentError after a timeout in milliseconds,
   * or with the signal's abort reason.
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

  /**
   * Calls the listener with the connected agent, if any, and with each later agent. Returns a function that removes the
   * listener.
   */
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
