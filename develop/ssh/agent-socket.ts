import { randomBytes } from 'node:crypto'
import type { Connection } from 'ssh2'
import { openAgentChannel } from '../../adapters/ssh/agent-channel.ts'
import type { AgentListener, PodAgent } from '../../adapters/ssh/agent-client.ts'
import type { OpenChannels } from '../../adapters/ssh/open-channels.ts'
import type { AgentLink } from '../ports/agent-link.ts'

/**
 * Time to wait for the connection to the agent that creates the socket, in milliseconds. After this time, the session
 * continues without the socket.
 */
const PATIENCE = 5000

/**
 * Forwards the SSH agent of a client (`ssh -A`) to a Unix socket in the container. The socket exists as long as the
 * client is connected. Returns the path of the socket; undefined if it cannot be created.
 */
export async function forwardAgent(
  client: Connection,
  channels: OpenChannels,
  link: AgentLink,
  folder: string,
): Promise<string | undefined> {
  const name = `agent-${randomBytes(8).toString('hex')}.sock`
  let listener: AgentListener | undefined
  let isGone = false
  let undo = () => {}
  client.once('close', () => {
    isGone = true
    undo()
    listener?.close()
  })
  const take = async () => channels.keep(await openAgentChannel(client))
  const listen = async (agent: PodAgent) => {
    listener = await agent.listenSocket(name, take)
    if (isGone) listener.close()
  }
  try {
    const first = await link.current(PATIENCE)
    await listen(first)
    // Forward again over each later connection.
    if (!isGone) undo = link.onConnected(agent => agent !== first && void listen(agent).catch(() => {}))
    return `${folder}/${name}`
  } catch {
    return undefined
  }
}
