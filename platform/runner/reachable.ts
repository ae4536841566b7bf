import { once } from 'node:events'
import { createConnection } from 'node:net'
import { pause } from '../../adapters/http/back-off.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'

/** Delay between two attempts, and timeout of each attempt, in milliseconds. */
const AGAIN = 50
const ATTEMPT = 2000

/**
 * Waits until an address accepts connections. Where network policies are enforced, a Pod that has just started may be
 * refused connections that are allowed. Returns without an error when the signal is aborted, because the caller's own
 * request gives a better error message.
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
