import { AGENT_CONTAINER, VOLUME_PATH } from '../../constructs/mirror/names.ts'
import type { DevelopContext } from '../context.ts'
import { fileEventsCross } from '../files/file-events.ts'
import { agentFolder } from '../files/sync-folders.ts'
import type { PreparedMirror } from '../mirror/prepare-mirror.ts'
import type { Polling } from './polling.ts'
import type { Supervisor } from './supervisor.ts'

export interface PollingOf {
  readonly dev: string
  readonly prepared: Pick<PreparedMirror, 'folders' | 'container' | 'runs'>
  readonly supervisor: Supervisor
  readonly polling: Polling
}

/**
 * Determines, once the container is running, whether its programs receive events for file changes. If not, programs
 * started afterwards use polling, and a warning is reported. Never rejects.
 */
export async function findPolling(
  { session, on }: Pick<DevelopContext, 'session' | 'on'>,
  { dev, prepared, supervisor, polling }: PollingOf,
  signal: AbortSignal,
): Promise<void> {
  const folder = prepared.folders.find(({ file }) => file === undefined)
  const ready = await supervisor.untilReady(signal).catch(() => undefined)
  if (!folder || !ready) return
  const { access, namespace } = session
  const { path } = agentFolder(folder)
  const shared = {
    pod: ready.pod.metadata.name,
    namespace,
    agent: { container: AGENT_CONTAINER, path: `${VOLUME_PATH}/${path}` },
    own: { container: prepared.container, path: folder.remote },
  }
  const doCross = await fileEventsCross(access, shared, AbortSignal.any([signal, ready.lost]))
  if (doCross === undefined || doCross === !polling.isNeeded) return
  polling.set(!doCross)
  if (doCross) return
  on({
    type: 'warning',
    text: `the programs of ${dev} hear of no changes of files: its sandbox does not pass them on, as gVisor`,
    hint:
      prepared.runs === 'command'
        ? 'let them poll: add `CHOKIDAR_USEPOLLING` or what they read to `environment`'
        : 'commands that start from now on have CHOKIDAR_USEPOLLING and WATCHPACK_POLLING; start those that run again',
  })
}
