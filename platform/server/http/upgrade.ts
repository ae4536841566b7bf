import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { TUNNEL_PROTOCOL } from '../../api/prefix.ts'
import type { ServeConnection } from '../handlers/handler.ts'
import { PlatformError } from './platform-error.ts'

/** A connection whose client requests a protocol upgrade. */
interface Upgrading {
  readonly socket: Socket
  readonly head: Buffer
  readonly response: ServerResponse
}

/** Timeout for upgrading or answering a request, in milliseconds. */
const ANSWER = 30_000

const upgrading = new WeakMap<IncomingMessage, Upgrading>()

/** Passes upgrade requests to the routes like all other requests, with the same checks. */
export function answerUpgrades(app: FastifyInstance): void {
  const open = new Set<Socket>()
  // The server would wait for these connections on shutdown, because nothing else closes them.
  app.addHook('preClose', async () => {
    for (const socket of open) socket.destroy()
  })
  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => {})
    // An upgrade request has no body, so a route that waits for a body would never respond.
    if (request.method !== 'GET') return void socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    const late = setTimeout(() => upgrading.has(request) && socket.destroy(), ANSWER)
    late.unref()
    const response = new ServerResponse(request)
    // The connection is closed after a response.
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
 * Upgrades the connection of a request, and serves it. Throws a PlatformError if the request does not ask for the
 * protocol of these connections, or comes from a web page.
 */
export function takeConnection({ raw, headers }: FastifyRequest, reply: FastifyReply, serve: ServeConnection): void {
  const found = upgrading.get(raw)
  if (!found || headers.upgrade !== TUNNEL_PROTOCOL)
    throw new PlatformError(426, 'upgrade', `this address is for connections (\`Upgrade: ${TUNNEL_PROTOCOL}\`)`, {
      hint: 'a proxy in front of the platform may not forward such requests',
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
