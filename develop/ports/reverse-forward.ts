import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { pause } from '../../adapters/http/back-off.ts'
import type { AgentListener, PodAgent } from '../../adapters/ssh/agent-client.ts'
import type { AgentLink } from './agent-link.ts'
import type { ForwardEvent } from './events.ts'

/** Delay before the Pod retries to listen on a port that another process in the Pod uses, in milliseconds. */
const AGAIN = 5000

/** A port of the Pod that is forwarded to a port of this machine. */
export interface ReverseForward {
  readonly remotePort: number
  readonly localPort: number
}

/**
 * Lets Services reach a port of this machine: each agent that connects listens on all addresses of its Pod. Returns a
 * function that closes the forward.
 */
export function openReverse(
  { remotePort, localPort }: ReverseForward,
  host: string,
  link: AgentLink,
  on: (event: ForwardEvent) => void,
): () => void {
  const control = new AbortController()
  let listener: AgentListener | undefined
  let last: string | undefined
  const take = async () => {
    try {
      const socket = await dialHere(host, localPort)
      last = undefined
      return socket
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'nothing listens there' : String(error)
      if (why !== last) on({ kind: 'reverse-refused', port: remotePort, local: `${host}:${localPort}`, why })
      last = why
      return undefined
    }
  }
  const listen = async (agent: PodAgent) => {
    listener = await listenUntil(agent, remotePort, take, control.signal, on)
    if (control.signal.aborted) listener?.close()
  }
  const undo = link.onConnected(agent => void listen(agent))
  return () => {
    undo()
    control.abort()
    listener?.close()
  }
}

/** Retries until the agent listens. Returns undefined if the connection or the forward has ended in the meantime. */
async function listenUntil(
  agent: PodAgent,
  port: number,
  take: () => Promise<Socket | undefined>,
  closed: AbortSignal,
  on: (event: ForwardEvent) => void,
): Promise<AgentListener | undefined> {
  const lost = new AbortController()
  void agent.ended.then(() => lost.abort())
  const signal = AbortSignal.any([closed, lost.signal])
  for (let tries = 1; !signal.aborted; tries++) {
    try {
      // An empty address means all addresses, IPv4 and IPv6.
      return await agent.listen('', port, take)
    } catch (error) {
      if (tries === 1 && !signal.aborted) on({ kind: 'not-reversed', port, why: (error as Error).message })
      await pause(AGAIN, signal).catch(() => {})
    }
  }
  return undefined
}

async function dialHere(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true, allowHalfOpen: true })
  await once(socket, 'connect')
  return socket
}
