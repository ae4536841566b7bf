import { withTimeLimit } from '../adapters/process/time-limit.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { stateHome } from '../project/contexts/home.ts'
import { requireNamespace } from '../project/namespaces.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { OperationContext } from '../project/session.ts'
import { allConcurrent } from './all-concurrent.ts'
import type { DevelopContext } from './context.ts'
import type { EmptiedFolder, SessionReport } from './control/messages.ts'
import { findMirror } from './mirror/find-mirror.ts'
import { knownDevelopments } from './mirror/known-developments.ts'
import type { DevelopmentInput, SeveralInput } from './select/find-development.ts'
import { askUp, reportOf, sessionKey } from './session/ask.ts'
import { type EmptiedAnswer, noneWaits } from './session/emptied-folders.ts'
import { readFailure } from './session/session-end.ts'
import { sessionFolder } from './session/session-folder.ts'

/** Timeout for requests to the cluster, in milliseconds. */
const ASKING = 10_000

/** Input of `status`. */
export type StatusInput = Omit<DevelopmentInput, 'dev'> & SeveralInput

/**
 * Returns the states of development containers by name: of the containers in the input, or else of all active ones. The
 * state of an active container without an `up` on this machine is undefined. Throws a UserError if a container in the
 * input has no `up` on this machine, or if no active container has one.
 */
export async function status(
  world: Pick<DevelopContext, 'workspace' | 'session' | 'on'>,
  input: StatusInput,
  project: OpenProject,
): Promise<ReadonlyMap<string, SessionReport | undefined>> {
  return inTime(world.session, async session => {
    const here = { ...world, session }
    const names = await knownDevelopments(here, input, project, { one: false, mayBeAlone: true })
    const reports = await Promise.all(names.map(async dev => [dev, await reportOf(world, dev)] as const))
    const missing = reports.filter(([, report]) => !report).map(([dev]) => dev)
    const isNamed = (input.devs?.length ?? 0) > 0
    if (missing.length === 0 || (!isNamed && missing.length < reports.length)) return new Map(reports)
    throw await notHere(here, missing)
  })
}

/**
 * Limits the time of a request to the cluster. Throws a UserError if the cluster does not answer in time. The error
 * tells the user that the cluster may be the reason why nothing happens.
 */
async function inTime<Result>(
  session: OperationContext['session'],
  work: (session: OperationContext['session']) => Promise<Result>,
): Promise<Result> {
  const signal = withTimeLimit(ASKING, session.signal)
  try {
    return await work({ ...session, signal })
  } catch (error) {
    if (!signal.aborted || session.signal.aborted || error instanceof UserError) throw error
    throw new UserError(`the cluster has not answered within ${ASKING / 1000} s`, {
      hint: 'is the cluster running, and is the context the right one?',
      cause: error,
    })
  }
}

/**
 * Returns the development containers whose mirror exists in the cluster, with the name of the mirror, such as
 * `web-dev`.
 */
export async function leftMirrors(
  session: OperationContext['session'],
  devs: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (devs.length === 0) return new Map()
  const all = await inTime(session, own =>
    Promise.all(devs.map(async dev => [dev, await findMirror(own, dev)] as const)),
  )
  return new Map(all.flatMap(([dev, mirror]) => (mirror ? [[dev, mirror.metadata.name] as const] : [])))
}

/**
 * Returns the error for development containers without an `up` on this machine. The error names each remaining mirror,
 * which still replaces its original.
 */
async function notHere(
  { workspace, session }: Pick<OperationContext, 'workspace' | 'session'>,
  missing: readonly string[],
): Promise<UserError> {
  const failures = missing.flatMap(dev => {
    const failure = readFailure(sessionFolder(stateHome(workspace), sessionKey(session, dev)))
    return failure === undefined ? [] : [`\`up\` of ${dev} has ended with an error at ${failure}`]
  })
  const left = await leftMirrors(session, missing)
  if (left.size === 0) await requireNamespace(session)
  const [are, them] = missing.length > 1 ? ['are', 'them'] : ['is', 'it']
  const shown = missing.map(dev => `\`${dev}\``).join(', ')
  const up = `\`devctl up ${missing.join(' ')}\``
  return new UserError(`${shown} ${are} not active here: no \`devctl up\` runs for ${them} on this machine`, {
    notes: [
      ...failures,
      ...[...left].map(([dev, mirror]) => `\`${mirror}\` still runs in place of \`${dev}\` in ${session.namespace}`),
    ],
    hint:
      left.size > 0
        ? `${up} continues, \`devctl down ${[...left.keys()].join(' ')}\` restores`
        : `start ${them} with ${up}`,
  })
}

/** Input of `answerEmptied`: the development containers whose folders are answered for, and the answer. */
export interface AnswerEmptiedInput extends StatusInput {
  /**
   * Answer for the folders: `delete` also deletes the files on the side that still has them; `restore` copies the files
   * back from that side.
   */
  readonly answer: EmptiedAnswer
}

/**
 * Answers for the folders that have lost files on one side, and returns them by the name of their development
 * container. With `all`, skips containers that are not active here or do not wait. Throws a UserError if no folder
 * waits for an answer; if containers are named, answers nothing unless each of them waits.
 */
export async function answerEmptied(
  world: Pick<DevelopContext, 'workspace' | 'session' | 'on'>,
  { answer, ...input }: AnswerEmptiedInput,
  project: OpenProject,
): Promise<ReadonlyMap<string, readonly EmptiedFolder[]>> {
  const devs = input.all ? input.devs : await knownDevelopments(world, input, project, { one: true })
  const reports = [...(await status(world, { ...input, devs }, project))].filter(([, report]) => report)
  const waits = ([, report]: (typeof reports)[number]) => (report?.emptied ?? []).length > 0
  const [waiting, idle] = [reports.filter(waits), reports.filter(one => !waits(one))]
  if (waiting.length === 0 || (!input.all && idle.length > 0)) throw noneWaits(idle.map(([dev]) => dev))
  const results = await allConcurrent(waiting.map(([dev]) => answerOne(world, dev, answer)))
  return new Map(results)
}

async function answerOne(
  world: Pick<DevelopContext, 'workspace' | 'session'>,
  dev: string,
  meaning: EmptiedAnswer,
): Promise<readonly [dev: string, folders: readonly EmptiedFolder[]]> {
  const report = await askUp(world, dev, { ask: 'answer', meaning })
  if (report === undefined)
    throw new UserError(`\`devctl up ${dev}\` has ended before it answered`, {
      hint: `start it again with \`devctl up ${dev}\`, and answer then`,
    })
  return [dev, report === 'done' ? [] : (report.emptied ?? [])]
}
