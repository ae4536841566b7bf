import { unlessAborted } from '../../adapters/http/abort.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { personOf } from '../../environment/apply/held-lease.ts'
import { upRecordOf } from '../../environment/record/up-record.ts'
import { stateHome } from '../../project/contexts/home.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { Session } from '../../project/session.ts'
import { toleratesFailures } from '../../project/tolerance.ts'
import type { UpEvent } from '../events.ts'
import { watchReadFiles } from '../files/read-files.ts'
import { findMirror } from '../mirror/find-mirror.ts'
import { type MirrorOrigin, type PreparedMirror, prepareMirror } from '../mirror/prepare-mirror.ts'
import { type ReplacedWorkload, replaceWorkload } from '../mirror/replace-workload.ts'
import { restoreWorkload } from '../mirror/restore-workload.ts'
import { withMissingRights } from '../mirror/stream-rights.ts'
import { withBuiltImages } from '../select/built-image.ts'
import { deployedName, type FoundDevelopment } from '../select/find-development.ts'
import { type OpenedSsh, openSessionSsh } from '../ssh/session-ssh.ts'
import type { UpContext, UpInput, UpOutcome } from '../up-input.ts'
import type { SessionConfig } from './agent-session.ts'
import { refuseSecond, sessionKey } from './ask.ts'
import { CleanupStack } from './cleanup-stack.ts'
import { Credentials } from './credentials.ts'
import { EmptiedFolders } from './emptied-folders.ts'
import { logText, SessionLog } from './event-log.ts'
import { Polling } from './polling.ts'
import { type ControlHandlers, openControl } from './session-control.ts'
import { forgetFailure, writeFailure } from './session-end.ts'
import { sessionFolder } from './session-folder.ts'
import { openParts, type PartsInput } from './session-parts.ts'
import { findPolling } from './session-polling.ts'
import { SessionProgram } from './session-program.ts'
import { CurrentState } from './session-state.ts'

/** Input of the command, and the project that the command has opened. */
export interface SessionRequest {
  readonly input: UpInput
  readonly project: OpenProject
}

/** A session whose input is complete, before anything is changed. */
export interface PlannedSession {
  readonly asked: SessionRequest
  readonly found: FoundDevelopment
  readonly prepared: PreparedMirror
}

/** Abort reason of a session that another process ends; the message contains the reason. */
class Stopped extends Error {}

/**
 * Timeout for restoring the original after the session, in milliseconds. The restoration has its own signal with this
 * timeout, because the session's signal may already be aborted.
 */
const GIVING_BACK = 60_000

/**
 * Reads the input of a session. Throws a UserError if something that the input names does not exist, or if the session
 * already runs.
 */
export async function planSession(
  world: UpContext,
  asked: SessionRequest,
  found: FoundDevelopment,
  origin: MirrorOrigin,
): Promise<PlannedSession> {
  if (!asked.input.dryRun) await refuseSecond(world, found.development.name)
  const own = withBuiltImages(found, origin.original !== undefined, world.workspace.env)
  const shellImage = asked.project.environment?.shellImage?.value
  return { asked, found: own, prepared: await prepareMirror(world, asked.input, own, { ...origin, shellImage }) }
}

/** Replaces the original workload, and keeps the development container connected until its command ends. */
export async function runSession(world: UpContext, { asked, found, prepared }: PlannedSession): Promise<UpOutcome> {
  const { session, workspace } = world
  const { input } = asked
  const dev = found.development.name
  const folder = sessionFolder(stateHome(workspace), sessionKey(session, dev))
  const mask = (text: string) => (workspace.secrets ? workspace.secrets.mask(text) : text)
  const log = new SessionLog(folder, mask)
  const on = (event: UpEvent) => {
    const text = logText(event)
    if (text !== undefined) log.write(text)
    world.on(event)
  }
  try {
    const taken = await replaceWorkload(session, prepared.take, on).catch(async error => {
      if (input.downOnExit && session.signal.aborted) await giveBackOwn(session, prepared, dev, on)
      throw error
    })
    if (taken.kind === 'planned') return { kind: 'planned', objects: taken.objects }
    forgetFailure(folder)
    on({ type: 'taken', dev, text: taken.text })
    try {
      return await connected({ ...world, on }, asked, found, prepared, taken)
    } finally {
      await taken.release()
      if (input.downOnExit) {
        const signal = withTimeLimit(GIVING_BACK)
        await restoreWorkload({ ...session, signal }, { name: dev }, { volumes: false }, on)
      }
    }
  } catch (error) {
    if (!session.signal.aborted) writeFailure(folder, mask(error instanceof Error ? error.message : String(error)))
    log.write(`error ${error instanceof Error ? (error.stack ?? error.message) : error}`)
    throw error
  }
}

/**
 * Restores an application that this user's session has suspended, if the session is interrupted before the mirror of
 * the application exists.
 */
async function giveBackOwn(
  session: Session,
  { take: { original } }: PreparedMirror,
  dev: string,
  on: (event: UpEvent) => void,
): Promise<void> {
  const own = { ...session, signal: AbortSignal.timeout(GIVING_BACK) }
  const live = original ? await session.cluster.get(original, own) : await findMirror(own, dev)
  if (upRecordOf(live)?.by === personOf(session)) await restoreWorkload(own, { name: dev }, { volumes: false }, on)
}

/** Reports changes of the files that the session has read. Returns a function that stops watching them. */
function watchSources({ workspace: { cwd, env }, on }: UpContext, { sources }: FoundDevelopment, input: UpInput) {
  const searched = (input.file ?? []).length === 0 && !env['COMPOSE_FILE']
  return watchReadFiles({ sources, searched, cwd }, text => on({ type: 'note', text }))
}

/** Connects to the container, runs the command, and cleans up afterwards. */
async function connected(
  world: UpContext,
  { input, project }: SessionRequest,
  found: FoundDevelopment,
  prepared: PreparedMirror,
  taken: ReplacedWorkload<SessionConfig>,
): Promise<UpOutcome> {
  const { session, on } = world
  const { development } = found
  const dev = development.name
  const [stop, failed] = [new AbortController(), new AbortController()]
  const signal = AbortSignal.any([taken.signal, stop.signal, failed.signal])
  const fail = (error: unknown) => failed.abort(error)
  const undo = new CleanupStack()
  const state = new CurrentState(dev, prepared.folders, on)
  const polling = new Polling(sessionFolder(stateHome(world.workspace), sessionKey(session, dev)))
  const emptied = new EmptiedFolders(dev, prepared.folders, world)
  const credentials = new Credentials(on)
  const reset = input.reset ?? false
  const parts: PartsInput = {
    ...{ world, found, prepared, taken, reset, state, emptied, credentials, signal },
    toleratesFailures: toleratesFailures(world.workspace, input),
  }
  try {
    const { supervisor, sync, link } = await openParts(parts, undo)
    const program = new SessionProgram(world, { input, found, prepared, supervisor, polling, signal })
    const hands: ControlHandlers = {
      stop: () => stop.abort(new Stopped(`\`devctl down ${dev}\` has ended the session`)),
      restart: () => program.restartNow(signal),
      answer: meaning => emptied.answer(meaning, (folder, one) => sync.answer(folder, one)),
    }
    await openControl(parts, { supervisor, sync }, hands, undo)
    supervisor.run(signal).catch(async error => fail(await withMissingRights(session, error)))
    taken.watch(signal, credentials).catch(fail)
    const { container } = prepared
    let ssh: OpenedSsh | undefined
    if (development.mode === 'sync') {
      const own = { dev, container, workdir: development.workdir?.value, port: development.remote?.value }
      ssh = await openSessionSsh(world, { ...own, supervisor, link, polling })
      undo.add(ssh.close)
      void findPolling(world, { dev, prepared, supervisor, polling }, signal)
    }
    // The sessions of one process have read the same files.
    if (!found.isSpare) undo.add(watchSources(world, found, input))
    if (found.actions.length > 0) {
      const rescanInterval = development.sync?.rescanInterval ?? 300
      const { startActions } = await import('./session-actions.ts')
      const restart = (until: AbortSignal) => program.restart(until)
      const service = deployedName(found)
      const own = { dev, service, container, rules: found.actions, rescanInterval, supervisor, restart }
      undo.add(await startActions(world, own, { input, project }, signal))
    }
    if (ssh) {
      // The first files are synchronized before a question is asked, so that they do not wait for its answer.
      await supervisor.untilReady(signal)
      await ssh.tell()
    }
    const status = await program.run()
    // Wait until the last files that the command has written are on this machine, before `up` ends.
    if (!signal.aborted && supervisor.ready)
      await unlessAborted(supervisor.ready.attached.settled(), signal).catch(() => {})
    return { kind: 'ended', status, dev, isDown: input.downOnExit ?? false }
  } catch (error) {
    if (!session.signal.aborted && error instanceof Stopped) return { kind: 'stopped', dev, reason: error.message }
    throw error
  } finally {
    state.set('stopped', '')
    stop.abort(new Stopped('the session is over'))
    await undo.all()
  }
}
