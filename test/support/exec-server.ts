import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Access } from '../../adapters/kubernetes/connection.ts'

/** The status of a command that has ended without an error, as the API server sends it. */
export const SUCCESS = Buffer.from(`\x03${JSON.stringify({ metadata: {}, status: 'Success' })}`)

/**
 * Starts a server for the exec requests of a test, with one protocol. `serve` gets each connection and its request.
 * Returns the access to the server, which ends with the test.
 */
export async function startExecServer(
  protocol: string,
  serve: (socket: WebSocket, request: IncomingMessage) => void,
): Promise<Access> {
  const server = createServer()
  const sockets = new WebSocketServer({ server, handleProtocols: () => protocol })
  sockets.on('connection', serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.close()
  })
  return accessTo((server.address() as AddressInfo).port)
}

/** Returns the access to a server on a port of this machine. */
export const accessTo = (port: number): Access => ({
  server: new URL(`http://127.0.0.1:${port}`),
  connect: async () => ({ headers: {}, calls: new Agent(), streams: new Agent() }),
})
