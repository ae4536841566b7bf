import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { TUNNEL_PROTOCOL } from '../api/prefix.ts'
import type { ServeConnection } from './handlers/handler.ts'
import { PlatformError } from './platform-error.ts'

/** A connection whose client wants to go on with another protocol. */
interface Upgrading {
  readonly socket: Socket
  readonly head: Buffer
  readonly response: ServerResponse
}

/** Milliseconds in which a request becomes a connection, or is answered. */
const ANSWER = 30_000

const upgrading = new WeakMap<IncomingMessage, Upgrading>()

/** Lets requests that ask for another protocol come to the routes as all others: with the same checks. */
export function answerUpgrades(app: FastifyInstance): void {
  const open = new Set<Socket>()
  // The server would wait for their ends, which nobody else makes.
  app.addHook('preClose', async () => {
    for (const socket of open) socket.destroy()
  })
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => {})
    // Such a request has no body, so nothing else would end it.
    if (request.method !== 'GET') return void socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    const late = setTimeout(() => upgrading.has(request) && socket.destroy(), ANSWER)
    late.unref()
    const response = new ServerResponse(request)
    // An answer is the last one on this connection.
    response.shouldKeepAlive = false
    response.once('finish', () => {
      if (upgrading.has(request)) socket.end()
    })
    upgrading.set(request, { socket, head, response })
    response.assignSocket(socket)
    app.routing(request, response)
  })
}

/**
 * Makes a request a connection, and serves it. Throws a PlatformError for a request that has not asked
 * for it, and for one that a page in a browser makes: its connections come with no login of devctl.
 */
export function takeConnection({ raw, headers }: FastifyRequest, reply: FastifyReply, serve: ServeConnection): void {
  const found = upgrading.get(raw)
  if (!found || headers.upgrade !== TUNNEL_PROTOCOL)
    throw new PlatformError(426, 'upgrade', `this address is for connections (\`Upgrade: ${TUNNEL_PROTOCOL}\`)`, {
      hint: 'a proxy before the platform may not pass such requests on',
    })
  if (headers.origin !== undefined) throw new PlatformError(403, 'origin', 'this is not for pages in a browser')
  const { socket, head, response } = found
  upgrading.delete(raw)
  reply.hijack()
  response.detachSocket(socket)
  socket.setTimeout(0)
  socket.setNoDelay(true)
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${TUNNEL_PROTOCOL}\r\n\r\n`)
  if (head.length > 0) socket.unshift(head)
  serve(socket)
}
