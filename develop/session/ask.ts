import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { devctlHome } from '../../project/contexts/home.ts'
import type { OperationContext, Session } from '../../project/session.ts'
import { askSession, endSession } from '../control/client.ts'
import type { ControlRequest, SessionReport } from '../control/messages.ts'
import { controlAddress, type SessionKey } from './session-folder.ts'

/** The session of a development container in the cluster and namespace of a command. */
export const sessionKey = ({ access, namespace }: Session, dev: string): SessionKey => ({
  server: access.server.href,
  namespace,
  dev,
})

const addressOf = ({ workspace, session }: Pick<OperationContext, 'workspace' | 'session'>, dev: string): string =>
  controlAddress(devctlHome(workspace), sessionKey(session, dev), process.platform)

/** Asks the `up` of this machine; gives undefined if none runs. Throws a UserError for what it refuses. */
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

/** Ends the `up` of this machine, and returns when it has closed all that it had open; at once if none runs. */
export async function stopUp(world: Pick<OperationContext, 'workspace' | 'session'>, dev: string): Promise<void> {
  await endSession(addressOf(world, dev), world.session.signal)
}

/** The state of the `up` that runs on this machine; undefined if none runs. */
export async function reportOf(
  world: Pick<OperationContext, 'workspace' | 'session'>,
  dev: string,
): Promise<SessionReport | undefined> {
  const answer = await askUp(world, dev, { ask: 'report' })
  return answer === 'done' ? undefined : answer
}
