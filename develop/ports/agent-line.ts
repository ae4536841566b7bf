import type { Duplex } from 'node:stream'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'
import type { Access } from '../../adapters/kubernetes/connection.ts'
import type { AgentWay } from '../mirror/stream-rights.ts'

/** An address that the agent of a Pod listens on: a port of 127.0.0.1, or the path of a Unix socket. */
export interface AgentPlace {
  readonly pod: string
  readonly namespace: string
  /** Name of the agent's container, which has Node.js. */
  readonly container: string
  readonly at: number | string
}

/**
 * Opens connections to an agent by port forwarding. If port forwarding turns out to be forbidden, uses the exec API
 * instead, and reports this once.
 */
export class AgentLine {
  readonly #access: Access
  readonly #on: (text: string) => void
  #way: AgentWay

  constructor(access: Access, way: AgentWay, on: (text: string) => void) {
    this.#access = access
    this.#way = way
    this.#on = on
  }

  /** Opens a connection. Rejects with a ClusterError. */
  async open(place: AgentPlace, signal: AbortSignal): Promise<Duplex> {
    const { pod, namespace, at } = place
    if (this.#way === 'port-forward' && typeof at === 'number')
      try {
        const { openPortForward } = await import('../../adapters/kubernetes/port-forward.ts')
        return await openPortForward(this.#access, { pod, namespace, port: at }, { signal })
      } catch (error) {
        if (!(error instanceof ClusterError) || error.failure !== 'forbidden') throw error
        if (this.#way === 'port-forward') this.#on(`${error.message}: files and ports go over \`pods/exec\``)
        this.#way = 'exec'
      }
    const { openExecBridge } = await import('../../adapters/kubernetes/exec-bridge.ts')
    return openExecBridge(this.#access, place, { signal })
  }
}
