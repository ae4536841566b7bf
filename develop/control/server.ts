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
 * on it. Errors of the handler are answers, unless the signal of the session is aborted.
 */
export async function serveControl(
  address: string,
  handle: ControlHandler,
  session?: AbortSignal,
): Promise<ControlServer> {
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
    void converse(socket, handle, session)
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

async function converse(socket: Socket, handle: ControlHandler, session: AbortSignal | undefined): Promise<void> {
  try {
    for await (const line of linesOf(socket)) {
      const request: ControlRequest = JSON.parse(line)
      const answer = await handle(request).catch(error => refusal(error, session))
      socket.write(`${JSON.stringify(answer)}\n`)
    }
  } catch {
    // Either the other command has disconnected, or the client is not devctl.
    socket.destroy()
  }
}

/**
 * Turns an error into an answer for the client. Rethrows the error of a session that is ending, so that the client
 * learns that there is no session.
 */
function refusal(error: unknown, session: AbortSignal | undefined): ControlAnswer {
  if (error instanceof UserError)
    return { ok: false, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) }
  if (session?.aborted || !(error instanceof Error)) throw error
  return { ok: false, message: error.message }
}

const listening = (server: Server, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
