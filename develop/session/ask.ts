import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { stateHome } from '../../project/contexts/home.ts'
import type { OperationContext, Session } from '../../project/session.ts'
import { askSession, endSession } from '../control/client.ts'
import type { ControlRequest, SessionReport } from '../control/messages.ts'
import { controlAddress, type SessionKey } from './session-folder.ts'

/** Returns the key of a development container's session in the cluster and namespace of a command. */
export const sessionKey = ({ access, namespace }: Session, dev: string): SessionKey => ({
  server: access.server.href,
  namespace,
  dev,
})

const addressOf = ({ workspace, session }: Pick<OperationContext, 'workspace' | 'session'>, dev: string): string =>
  controlAddress(stateHome(workspace), sessionKey(session, dev), process.platform)

/**
 * Sends a request to the `up` of a development container on this machine; returns undefined if none is running. Throws
 * a UserError if the request is refused.
 */
export async function askUp(
  world: Pick<OperationContext, 'workspace' | 'session'>,
  dev: string,
  request: ControlRequest,
): Promise<SessionReport | 'done' | undefined> {
  const answer = await askSession(addressOf(world, dev), request, world.session.signal)
  if (!answer) return undefined
  if (answer.ok) return answer.report ?? 'done'
  throw new UserError(answer.message, answer.hint === undefined ? {} : { hint: answer.hint })
}

/**
 * Ends the `up` of a development container on this machine, and returns once it has closed all its connections; returns
 * at once if none is running.
 */
export async function stopUp(world: Pick<OperationContext, 'workspace' | 'session'>, dev: string): Promise<void> {
  await endSession(addressOf(world, dev), world.session.signal)
}

/** Throws a UserError if the `up` of a development container already runs on this machine. */
export async function refuseSecond(world: Pick<OperationContext, 'workspace' | 'session'>, dev: string): Promise<void> {
  const running = await reportOf(world, dev)
  if (running)
    throw new UserError(`\`devctl up ${dev}\` already runs on this machine (process ${running.process})`, {
      hint: `\`devctl exec ${dev} -- sh\` opens another shell; \`devctl down ${dev}\` ends it`,
    })
}

/** Returns the state of the `up` of a development container on this machine; undefined if none is running. */
export async function reportOf(
  world: Pick<OperationContext, 'workspace' | 'session'>,
  dev: string,
): Promise<SessionReport | undefined> {
  const answer = await askUp(world, dev, { ask: 'report' })
  return answer === 'done' ? undefined : answer
}
