import type { Duplex } from 'node:stream'
import type { AgentKeys, PodAgent } from '../../adapters/ssh/agent-client.ts'

/** Opens an SSH client on a connection to an agent. Rejects with the error of the connection, or with an AgentError. */
export async function openAgent(connection: Promise<Duplex>, keys: AgentKeys): Promise<PodAgent> {
  const [stream, { connectAgent }] = await Promise.all([connection, import('../../adapters/ssh/agent-client.ts')])
  if (stream.errored) throw stream.errored
  return connectAgent(stream, keys)
}
