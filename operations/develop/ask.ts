import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { devctlHome } from '../contexts/home.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { Session, World } from '../session.ts'
import { askSession, endSession } from './control/client.ts'
import type { ControlRequest, EmptiedFolder, SessionReport } from './control/messages.ts'
import type { EmptiedAnswer } from './emptied-folders.ts'
import { type DevelopmentInput, namedDevelopments, type SeveralInput } from './find-development.ts'
import { controlAddress, type SessionKey } from './session-folder.ts'

/** The session of a development container in the cluster and namespace of a command. */
export const sessionKey = ({ access, namespace }: Session, dev: string): SessionKey => ({
  server: access.server.href,
  namespace,
  dev,
})

const addressOf = ({ workspace, session }: Pick<World, 'workspace' | 'session'>, dev: string): string =>
  controlAddress(devctlHome(workspace), sessionKey(session, dev), process.platform)

/** Asks the `up` of this machine; gives undefined if none runs. Throws a UserError for what it refuses. */
export async function askUp(
  world: Pick<World, 'workspace' | 'session'>,
  dev: string,
  request: ControlRequest,
): Promise<SessionReport | 'done' | undefined> {
  const answer = await askSession(addressOf(world, dev), request, world.session.signal)
  if (!answer) return undefined
  if (answer.ok) return answer.report ?? 'done'
  throw new UserError(answer.message, answer.hint === undefined ? {} : { hint: answer.hint })
}

/** Ends the `up` of this machine, and returns when it has closed all that it had open; at once if none runs. */
export async function stopUp(world: Pick<World, 'workspace' | 'session'>, dev: string): Promise<void> {
  await endSession(addressOf(world, dev), world.session.signal)
}

/** The state of the `up` that runs on this machine; undefined if none runs. */
export async function reportOf(
  world: Pick<World, 'workspace' | 'session'>,
  dev: string,
): Promise<SessionReport | undefined> {
  const answer = await askUp(world, dev, { ask: 'report' })
  return answer === 'done' ? undefined : answer
}

/** What `status` asks. */
export type StatusInput = Omit<DevelopmentInput, 'dev'> & SeveralInput

/**
 * The states of development containers whose `up` runs on this machine, by their names. With `all`
 * those of which none runs are undefined. Throws a UserError if none runs of one that is named, or
 * of all.
 */
export async function status(
  world: Pick<World, 'workspace' | 'session' | 'on'>,
  input: StatusInput,
  project: OpenProject,
): Promise<ReadonlyMap<string, SessionReport | undefined>> {
  const names = await namedDevelopments(world, input, project)
  const reports = await Promise.all(names.map(async dev => [dev, await reportOf(world, dev)] as const))
  const missing = reports.filter(([, report]) => !report).map(([dev]) => dev)
  if (missing.length === 0 || (input.all && missing.length < reports.length)) return new Map(reports)
  const [are, them] = missing.length > 1 ? ['are', 'them'] : ['is', 'it']
  const shown = missing.map(dev => `\`${dev}\``).join(', ')
  throw new UserError(`${shown} ${are} not active here: no \`devctl up\` runs for ${them} on this machine`, {
    hint: `start ${them} with \`devctl up ${missing.join(' ')}\``,
  })
}

/** Which folders are answered for, and how. */
export interface AnswerEmptiedInput extends StatusInput {
  /** `delete`: the files are deleted on the other side, too; `restore`: they come back from there. */
  readonly answer: EmptiedAnswer
}

/**
 * Says what becomes of the folders that have lost all files on one side. Gives them, by the names of
 * the development containers. Throws a UserError if none waits for an answer.
 */
export async function answerEmptied(
  world: Pick<World, 'workspace' | 'session' | 'on'>,
  { answer, ...input }: AnswerEmptiedInput,
  project: OpenProject,
): Promise<ReadonlyMap<string, readonly EmptiedFolder[]>> {
  const active = [...(await status(world, input, project))].flatMap(([dev, report]) => (report ? [dev] : []))
  const answered = new Map<string, readonly EmptiedFolder[]>()
  for (const dev of active) {
    const report = await askUp(world, dev, { ask: 'answer', meaning: answer })
    answered.set(dev, report && report !== 'done' ? (report.emptied ?? []) : [])
  }
  return answered
}
