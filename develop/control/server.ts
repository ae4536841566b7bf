import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { linesOf } from './lines.ts'
import type { ControlAnswer, ControlRequest } from './messages.ts'

/** Handles the requests to a session. */
export type ControlHandler = (request: ControlRequest) => Promise<ControlAnswer>

export interface ControlServer {
  close(): Promise<void>
}

/**
 * Listens for other commands of this user. `address` is a socket in a folder that only the user can access, or a named
 * pipe. Replaces the socket that a killed process left behind; the caller has already checked that nothing is listening
 * on it.
 */
export async function serveControl(address: string, handle: ControlHandler): Promise<ControlServer> {
  const isPipe = address.startsWith('\\\\.\\pipe\\')
  if (!isPipe) {
    mkdirSync(dirname(address), { recursive: true, mode: 0o700 })
    rmSync(address, { force: true })
  }
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    void converse(socket, handle)
  })
  await listening(server, address)
  if (!isPipe) chmodSync(address, 0o600)
  server.unref()
  return {
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.end()
      }),
  }
}

async function converse(socket: Socket, handle: ControlHandler): Promise<void> {
  try {
    for await (const line of linesOf(socket)) {
      const request: ControlRequest = JSON.parse(line)
      const answer = await handle(request).catch(refusal)
      socket.write(`${JSON.stringify(answer)}\n`)
    }
  } catch {
    // Either the other command has disconnected, or the client is not devctl.
    socket.destroy()
  }
}

/** Turns a UserError into an answer for the client; rethrows any other error, which ends the conversation. */
function refusal(error: unknown): ControlAnswer {
  if (!(error instanceof UserError)) throw error
  return { ok: false, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) }
}

const listening = (server: Server, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
