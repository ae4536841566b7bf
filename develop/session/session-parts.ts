import type { Duplex } from 'node:stream'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { AgentKeys, PodAgent } from '../../adapters/ssh/agent-client.ts'
import { AGENT_CONTAINER } from '../../constructs/mirror/names.ts'
import { stateHome } from '../../project/contexts/home.ts'
import { ToolFileNotes } from '../../project/tool-files.ts'
import { createSync, type SyncEngine } from '../../sync/session/sync.ts'
import { allConcurrent } from '../all-concurrent.ts'
import type { DevelopContext } from '../context.ts'
import { containerAnswers } from '../exec/container-runs.ts'
import { syncedFolder } from '../files/sync-folders.ts'
import { MirrorPod } from '../mirror/mirror-pod.ts'
import type { PreparedMirror } from '../mirror/prepare-mirror.ts'
import type { ReplacedWorkload } from '../mirror/replace-workload.ts'
import { AgentLine } from '../ports/agent-line.ts'
import { AgentLink } from '../ports/agent-link.ts'
import { forwardText } from '../ports/events.ts'
import { openForwards } from '../ports/open-forwards.ts'
import { sessionForwards } from '../ports/session-forwards.ts'
import type { FoundDevelopment } from '../select/find-development.ts'
import { missingServices } from '../select/missing-services.ts'
import { agentPlaces, type SessionConfig } from './agent-session.ts'
import { sessionKey } from './ask.ts'
import type { CleanupStack } from './cleanup-stack.ts'
import type { Credentials } from './credentials.ts'
import type { EmptiedFolders } from './emptied-folders.ts'
import { sessionFolder } from './session-folder.ts'
import type { CurrentState } from './session-state.ts'
import { Supervisor } from './supervisor.ts'

export interface PartsInput {
  readonly world: DevelopContext
  readonly found: FoundDevelopment
  readonly prepared: PreparedMirror
  readonly taken: ReplacedWorkload<SessionConfig>
  /**
   * True to discard the base of the synchronization: the state of the files that both ends had in common after earlier
   * sessions.
   */
  readonly reset: boolean
  /** True if the wait for a Pod continues although the Pod fails. */
  readonly toleratesFailures: boolean
  readonly state: CurrentState
  readonly emptied: EmptiedFolders
  readonly credentials: Credentials
  readonly signal: AbortSignal
}

/** Components that keep a development container connected. */
export interface SessionParts {
  readonly sync: SyncEngine
  readonly link: AgentLink
  /** Supervisor of the connection, not running yet. */
  readonly supervisor: Supervisor
}

/**
 * Opens the synchronization and the forwards of a mirror, and prepares the supervisor that will connect them to its
 * Pod.
 */
export async function openParts(input: PartsInput, undo: CleanupStack): Promise<SessionParts> {
  const { world, found, prepared, taken, state, credentials, signal } = input
  const { cluster, namespace, access, clock } = world.session
  const { development } = found
  const dev = development.name
  const pods = new MirrorPod(
    cluster,
    { namespace, labels: taken.labels, dev, toleratesFailures: input.toleratesFailures },
    clock,
  )
  pods.watch(signal, credentials)
  const { workspace, on } = world
  const notes = new ToolFileNotes(workspace, error =>
    on({
      type: 'warning',
      text: `files of tools that the container writes are not noted: ${(error as Error).message}`,
    }),
  )
  const sync = openSync(input, notes)
  undo.add(async () => {
    await sync.close()
    await notes.written()
  })
  const link = new AgentLink()
  await openSessionForwards(input, link, undo)
  const { hostPublicKey, clientKey } = taken.session
  const places = agentPlaces(taken.session)
  const line = new AgentLine(access, prepared.way, text => world.on({ type: 'note', text }))
  // The container runs only the agent in hybrid mode.
  const agent = development.mode === 'hybrid' ? prepared.container : AGENT_CONTAINER
  const placeIn = ({ metadata }: KubeObject, at: number | string) => ({
    pod: metadata.name,
    namespace,
    container: agent,
    at,
  })
  const supervisor = new Supervisor({
    pod: pods,
    agent,
    container: prepared.container,
    sync,
    key: Buffer.from(taken.session.key, 'hex'),
    timeout: development.timeout.resources,
    credentials,
    on(one, text) {
      // Progress events are debounced, so report the current progress before `ready`.
      if (one === 'ready') state.tellSync({ kind: 'progress', status: sync.status() })
      state.set(one, text)
    },
    connect: (pod, until) => line.open(placeIn(pod, places.sync), until),
    isRunning: (pod, until) => containerAnswers({ access, namespace, signal: until }, pod, prepared.container),
    connected(pod, until) {
      const keys = { hostKey: hostPublicKey, userKey: clientKey }
      void link.keep(one => openAgent(line.open(placeIn(pod, places.ssh), one), keys), until)
    },
  })
  return { sync, link, supervisor }
}

function openSync(
  { world, found: { development }, prepared, reset, state, emptied }: PartsInput,
  notes: ToolFileNotes,
): SyncEngine {
  const { session, workspace } = world
  const sync = createSync({
    folders: prepared.folders.map(syncedFolder),
    stateFolder: sessionFolder(stateHome(workspace), sessionKey(session, development.name)),
    direction: prepared.direction,
    compression: development.sync?.compression ?? true,
    rescanInterval: development.sync?.rescanInterval ?? 300,
    reset,
    on: event => {
      const told = state.tellSync(event)
      if (told?.type === 'sync-tool-file') notes.add(told.path)
      emptied.hear(event, (folder, meaning) => sync.answer(folder, meaning))
    },
  })
  return sync
}

async function openSessionForwards(
  { world: { session, on }, found: { development, forward, isSpare = false }, state }: PartsInput,
  link: AgentLink,
  undo: CleanupStack,
): Promise<void> {
  const own = sessionForwards(development, forward, session)
  const opening = openForwards({ ...own, link }, event => {
    // Another session of this process is using the port.
    if (isSpare && event.kind === 'waiting') return
    on({ type: 'note', text: forwardText(event) })
  })
  undo.add(() =>
    opening.then(
      one => one.close(),
      () => {},
    ),
  )
  const [missing, opened] = await allConcurrent([missingServices(own.forwards, session), opening])
  for (const text of missing) on({ type: 'note', text })
  const others = new Set(isSpare ? forward.map(({ localPort }) => localPort) : [])
  const shown = opened.forwards.filter(({ local }) => !others.has(Number(local.slice(local.lastIndexOf(':') + 1))))
  state.forwards = shown
  on({ type: 'forwards', forwards: shown, reverse: opened.reverse })
}

/** Opens an SSH client on a connection to an agent. Rejects with the error of the connection, or with an AgentError. */
export async function openAgent(connection: Promise<Duplex>, keys: AgentKeys): Promise<PodAgent> {
  const [stream, { connectAgent }] = await Promise.all([connection, import('../../adapters/ssh/agent-client.ts')])
  if (stream.errored) throw stream.errored
  return connectAgent(stream, keys)
}
