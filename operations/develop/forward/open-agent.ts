import type { CallOptions } from '../../../adapters/kubernetes/cluster.ts'
import type { Access } from '../../../adapters/kubernetes/connection.ts'
import type { PodPort } from '../../../adapters/kubernetes/port-forward.ts'
import type { AgentKeys, PodAgent } from '../../../adapters/ssh/agent-client.ts'

/** Connects to the SSH server of the agent in a Pod. Rejects with a ClusterError or an AgentError. */
export async function openAgent(
  access: Access,
  target: PodPort,
  keys: AgentKeys,
  { signal }: CallOptions,
): Promise<PodAgent> {
  const [{ openPortForward }, { connectAgent }] = await Promise.all([
    import('../../../adapters/kubernetes/port-forward.ts'),
    import('../../../adapters/ssh/agent-client.ts'),
  ])
  const stream = await openPortForward(access, target, { signal })
  if (stream.errored) throw stream.errored
  return connectAgent(stream, keys)
}
