import { once } from 'node:events'
import { createConnection } from 'node:net'
import { pause } from '../../adapters/http/back-off.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'

/** Delay between two attempts, and timeout of each attempt, in milliseconds. */
const AGAIN = 50
const ATTEMPT = 2000

/**
 * Waits until the server of a URL accepts connections. Where network policies are enforced, allowed connections of a
 * Pod that has just started can be refused for a moment. If the signal is aborted, returns without an error, because
 * the caller's own request then gives a better error message.
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
