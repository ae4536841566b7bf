import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { CallError, NOT_FOUND } from './call-error.ts'
import { type Handler, type IncomingCall, unary } from './rpc-server.ts'

interface Bytes {
  readonly data?: Uint8Array
}

/** The id of a mount that names none. */
const DEFAULT_ID = 'default'

/**
 * Forwards SSH agents, whose sockets are given by id, to the steps that mount them
 * (`moby.sshforward.v1.SSH`).
 */
export function agentHandlers(agents: ReadonlyMap<string, string>): Readonly<Record<string, Handler>> {
  const socketOf = (id: string) => {
    const socket = agents.get(id || DEFAULT_ID)
    if (socket !== undefined) return socket
    throw new CallError(NOT_FOUND, `the build has no SSH agent ${id || DEFAULT_ID}`)
  }
  return {
    CheckAgent: unary<{ ID?: string }>(async ({ ID = '' }) => {
      socketOf(ID)
      return {}
    }),
    ForwardAgent: call => forward(call, socketOf(call.valuesOf('buildkit.ssh.id')[0] ?? '')),
  }
}

/** Carries bytes between a call and the socket of an agent, until one of them ends. */
async function forward({ requests, send }: IncomingCall<Bytes, Bytes>, path: string): Promise<void> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    const answered = fromAgent(socket, send)
    await Promise.race([answered, toAgent(requests, socket).then(() => answered)])
  } finally {
    socket.destroy()
  }
}

async function toAgent(requests: AsyncIterable<Bytes>, socket: Socket): Promise<void> {
  for await (const { data } of requests) if (data) socket.write(data)
  socket.end()
}

async function fromAgent(socket: Socket, send: (message: Bytes) => Promise<void>): Promise<void> {
  for await (const data of socket as AsyncIterable<Buffer>) await send({ data })
}
