import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { AgentKey } from './private-key.ts'
import { string, uint32, WireReader } from './wire.ts'

/** An SSH agent that a build may use (https://www.rfc-editor.org/rfc/rfc9987). */
export interface SshAgent {
  /** Connects to the agent. Rejects if the agent is not running. */
  connect(): Promise<AgentConnection>
}

export interface AgentConnection {
  /** Returns the response to a request; request and response exclude their length prefix. */
  answer(request: Buffer): Promise<Buffer>
  close(): void
}

const FAILURE = 5
const REQUEST_IDENTITIES = 11
const IDENTITIES = 12
const SIGN_REQUEST = 13
const SIGN_RESPONSE = 14

const FAILED = Buffer.from([FAILURE])

/** Largest agent message that OpenSSH accepts, in bytes. */
const MOST = 256 * 1024

/** Returns an agent that holds the given keys itself, without a connection to another agent. */
export const agentOfKeys = (keys: readonly AgentKey[]): SshAgent => ({
  connect: async () => ({ answer: async request => answerWith(keys, request), close: () => {} }),
})

function answerWith(keys: readonly AgentKey[], request: Buffer): Buffer {
  try {
    if (request[0] === REQUEST_IDENTITIES) return identities(keys)
    return request[0] === SIGN_REQUEST ? signed(keys, new WireReader(request.subarray(1))) : FAILED
  } catch {
    // The request is truncated.
    return FAILED
  }
}

const identities = (keys: readonly AgentKey[]): Buffer =>
  Buffer.concat([
    Buffer.from([IDENTITIES]),
    uint32(keys.length),
    // The comments of the keys would reveal the names of people and machines.
    ...keys.flatMap(({ publicKey }) => [string(publicKey), string('')]),
  ])

function signed(keys: readonly AgentKey[], request: WireReader): Buffer {
  const publicKey = request.string()
  const data = request.string()
  const flags = request.uint32()
  const key = keys.find(one => one.publicKey.equals(publicKey))
  return key ? Buffer.concat([Buffer.from([SIGN_RESPONSE]), string(key.sign(data, flags))]) : FAILED
}

/**
 * Returns the agent that listens on the socket at `path`. A build may list the agent's keys and request signatures. As
 * with BuildKit's own clients, a build cannot add, remove or lock keys.
 */
export const agentAt = (path: string): SshAgent => ({
  connect: async () => {
    const socket = connect(path)
    await once(socket, 'connect')
    const responses = agentMessages(socket)
    return {
      answer: async request => {
        if (request[0] !== REQUEST_IDENTITIES && request[0] !== SIGN_REQUEST) return FAILED
        return exchange(socket, responses, request)
      },
      close: () => socket.destroy(),
    }
  },
})

async function exchange(socket: Socket, responses: AsyncIterator<Buffer>, request: Buffer): Promise<Buffer> {
  socket.write(string(request))
  const { value, done } = await responses.next()
  if (done) throw new Error('the SSH agent has closed the connection')
  return value
}

/** Yields the messages in a stream, without their length prefix. Throws if a message is too large. */
export async function* agentMessages(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 4) {
      const length = rest.readUInt32BE()
      if (length > MOST) throw new Error('the message for the SSH agent is too large')
      if (rest.length < 4 + length) break
      yield rest.subarray(4, 4 + length)
      rest = rest.subarray(4 + length)
    }
  }
}
