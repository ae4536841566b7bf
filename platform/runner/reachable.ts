import { once } from 'node:events'
import { createConnection } from 'node:net'
import { pause } from '../../adapters/http/back-off.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'

/** Milliseconds between two attempts, and of one. */
const AGAIN = 50
const ATTEMPT = 2000

/**
 * Waits until an address takes connections: where network policies are enforced, a Pod that has just started may be
 * refused what it is allowed. Gives up without a word when the signal is aborted: who asks there says it better.
 */
export async function reachable(url: string, signal: AbortSignal): Promise<void> {
  const { protocol, hostname, port } = new URL(url)
  const to = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) }
  while (!signal.aborted) {
    const socket = createConnection(to)
    try {
      await once(socket, 'connect', { signal: withTimeLimit(ATTEMPT, signal) })
      return
    } catch {
      await pause(AGAIN, signal).catch(() => {})
    } finally {
      socket.on('error', () => {}).destroy()
    }
  }
}
