import { stateHome } from '../../project/contexts/home.ts'
import type { ControlAnswer, ControlRequest, EmptiedFolder, SessionReport } from '../control/messages.ts'
import { serveControl } from '../control/server.ts'
import { servePages } from '../status-page.ts'
import { sessionKey } from './ask.ts'
import type { CleanupStack } from './cleanup-stack.ts'
import type { EmptiedAnswer } from './emptied-folders.ts'
import { controlAddress } from './session-folder.ts'
import type { PartsInput, SessionParts } from './session-parts.ts'

/** Operations that other commands can request from a session. */
export interface ControlHandlers {
  stop(): void
  /** Restarts the program of the session. Throws a UserError if there is nothing to restart. */
  restart(): Promise<void>
  /** Answers for the emptied folders and returns them. Throws a UserError if there are none. */
  answer(meaning: EmptiedAnswer): readonly EmptiedFolder[]
}

/** Accepts requests from this user's other commands, and serves the status pages of the session. */
export async function openControl(
  { world, found, prepared, state, emptied, signal }: PartsInput,
  { supervisor, sync }: Pick<SessionParts, 'supervisor' | 'sync'>,
  hands: ControlHandlers,
  undo: CleanupStack,
): Promise<void> {
  const { session, workspace } = world
  const dev = found.development.name
  const report = (): SessionReport => ({
    dev,
    namespace: session.namespace,
    context: session.target.context,
    folder: found.folder,
    state: state.state,
    text: state.text,
    ...(supervisor.ready && { pod: supervisor.ready.pod.metadata.name, container: prepared.container }),
    since: state.since,
    process: process.pid,
    sync: sync.status(),
    ...(state.forwards.length > 0 && { forwards: state.forwards }),
    ...(emptied.all.length > 0 && { emptied: emptied.all }),
  })
  const pages = await servePages(
    () => ({ json: report(), text: `${JSON.stringify(report(), undefined, 2)}\n` }),
    async () => {
      const { pod } = await supervisor.untilReady(AbortSignal.timeout(5000))
      return { json: pod, text: `${JSON.stringify(pod['status'], undefined, 2)}\n` }
    },
  )
  undo.add(() => pages.close())
  const { close: _, ...shown } = pages
  const answer = async (request: ControlRequest): Promise<ControlAnswer> => {
    const { ask } = request
    if (ask === 'answer') return { ok: true, report: { ...report(), emptied: hands.answer(request.meaning) } }
    if (ask === 'stop') hands.stop()
    if (ask === 'restart') await hands.restart()
    return { ok: true, ...(ask === 'report' && { report: { ...report(), pages: shown } }) }
  }
  const address = controlAddress(stateHome(workspace), sessionKey(session, dev), process.platform)
  const control = await serveControl(address, answer, signal)
  // Closed last, because a command that waits for the session to end waits until this connection is closed.
  undo.addLast(() => control.close())
}
