import type { Duplex } from 'node:stream'
import type { AgentKeys, PodAgent } from '../../adapters/ssh/agent-client.ts'

/** Talks to the SSH server of an agent over a connection to it. Rejects with the error of that, or an AgentError. */
export async function openAgent(connection: Promise<Duplex>, keys: AgentKeys): Promise<PodAgent> {
  const [stream, { connectAgent }] = await Promise.all([connection, import('../../adapters/ssh/agent-client.ts')])
  if (stream.errored) throw stream.errored
  return connectAgent(stream, keys)
}
