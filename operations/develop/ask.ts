import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { devctlHome } from '../contexts/home.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { Session, World } from '../session.ts'
import { askSession } from './control/client.ts'
import type { ControlRequest, SessionReport } from './control/messages.ts'
import { type DevelopmentInput, findDevelopment } from './find-development.ts'
import { controlAddress, type SessionKey } from './session-folder.ts'

/** The session of a development container in the cluster and namespace of a command. */
export const sessionKey = ({ access, namespace }: Session, dev: string): SessionKey => ({
  server: access.server.href,
  namespace,
  dev,
})

/** Asks the `up` of this machine; gives undefined if none runs. Throws a UserError for what it refuses. */
export async function askUp(
  { workspace, session }: Pick<World, 'workspace' | 'session'>,
  dev: string,
  request: ControlRequest,
): Promise<SessionReport | 'done' | undefined> {
  const address = controlAddress(devctlHome(workspace), sessionKey(session, dev), process.platform)
  const answer = await askSession(address, request, session.signal)
  if (!answer) return undefined
  if (answer.ok) return answer.report ?? 'done'
  throw new UserError(answer.message, answer.hint === undefined ? {} : { hint: answer.hint })
}

/** The state of the `up` that runs on this machine; undefined if none runs. */
export async function reportOf(
  world: Pick<World, 'workspace' | 'session'>,
  dev: string,
): Promise<SessionReport | undefined> {
  const answer = await askUp(world, dev, { ask: 'report' })
  return answer === 'done' ? undefined : answer
}

/** The name of the development container, and the state of its `up`. Throws a UserError if none runs on this machine. */
export async function activeSession(
  world: Pick<World, 'workspace' | 'session' | 'on'>,
  input: DevelopmentInput,
  project: OpenProject,
): Promise<SessionReport> {
  const { development } = await findDevelopment(world, input, project)
  const report = await reportOf(world, development.name)
  if (report) return report
  throw new UserError(`\`${development.name}\` is not active here: no \`devctl up\` runs for it on this machine`, {
    hint: `start it with \`devctl up ${development.name}\``,
  })
}
