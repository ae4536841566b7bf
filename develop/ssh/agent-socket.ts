import { randomBytes } from 'node:crypto'
import type { Connection } from 'ssh2'
import { openAgentChannel } from '../../adapters/ssh/agent-channel.ts'
import type { AgentListener, PodAgent } from '../../adapters/ssh/agent-client.ts'
import type { OpenChannels } from '../../adapters/ssh/open-channels.ts'
import type { AgentLink } from '../ports/agent-link.ts'

/** Milliseconds for the socket to be there; without it the session goes on. */
const PATIENCE = 5000

/**
 * The SSH agent of a client (`ssh -A`) as a Unix socket in the container, which is there as long as
 * the client is connected. Gives its path; undefined if there can be none.
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
    // With each later connection again.
    if (!isGone) undo = link.onConnected(agent => agent !== first && void listen(agent).catch(() => {}))
    return `${folder}/${name}`
  } catch {
    return undefined
  }
}
