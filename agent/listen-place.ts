import { rmSync } from 'node:fs'
import type { ListenPlace } from '../adapters/ssh/key-server.ts'

/**
 * Returns the address on which the agent listens: the Unix socket if there is one, otherwise the port on 127.0.0.1,
 * which port-forwards reach. Deletes a socket that an earlier agent left behind.
 */
export function listenPlace(socket: string | undefined, port: number): ListenPlace {
  if (socket === undefined) return { host: '127.0.0.1', port }
  rmSync(socket, { force: true })
  return { path: socket }
}
