import { rmSync } from 'node:fs'
import type { ListenPlace } from '../adapters/ssh/key-server.ts'

/** Where the agent listens: on a socket, in the place of one that an agent before has left, or on 127.0.0.1, which port-forwards reach. */
export function listenPlace(socket: string | undefined, port: number): ListenPlace {
  if (socket === undefined) return { host: '127.0.0.1', port }
  rmSync(socket, { force: true })
  return { path: socket }
}
