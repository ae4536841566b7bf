import { agentMessages, type SshAgent } from '../ssh/agent.ts'
import { string } from '../ssh/wire.ts'
import { CallError, NOT_FOUND } from './call-error.ts'
import { type Handler, type IncomingCall, unary } from './rpc-server.ts'
import { dataOf } from './upload.ts'

interface Bytes {
  readonly data?: Uint8Array
}

/** Id of the agent for an SSH mount without an id. */
const DEFAULT_ID = 'default'

/** Serves SSH agents, by id, to the steps that mount them (`moby.sshforward.v1.SSH`). */
export function agentHandlers(agents: ReadonlyMap<string, SshAgent>): Readonly<Record<string, Handler>> {
  const agentOf = (id: string) => {
    const agent = agents.get(id || DEFAULT_ID)
    if (agent !== undefined) return agent
    throw new CallError(NOT_FOUND, `the build has no SSH agent ${id || DEFAULT_ID}`)
  }
  return {
    CheckAgent: unary<{ ID?: string }>(async ({ ID = '' }) => {
      agentOf(ID)
      return {}
    }),
    ForwardAgent: call => forward(call, agentOf(call.valuesOf('buildkit.ssh.id')[0] ?? '')),
  }
}

/** Answers the requests of a call, one after the other. */
async function forward({ requests, send }: IncomingCall<Bytes, Bytes>, agent: SshAgent): Promise<void> {
  const connection = await agent.connect()
  try {
    for await (const request of agentMessages(dataOf(requests)))
      await send({ data: string(await connection.answer(request)) })
  } finally {
    connection.close()
  }
}
