import { randomBytes } from 'node:crypto'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { AGENT_CONTAINER } from '../../constructs/mirror/names.ts'
import { createSync } from '../../sync/sync.ts'
import { devctlHome } from '../contexts/home.ts'
import type { OperationEvent } from '../events.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { SessionConfig } from './agent-session.ts'
import { reportOf, sessionKey } from './ask.ts'
import type { ControlAnswer, ControlRequest, SessionReport } from './control/messages.ts'
import { serveControl } from './control/server.ts'
import type { DevelopmentVariable } from './environment.ts'
import { logText } from './event-log.ts'
import type { FoundDevelopment } from './find-development.ts'
import { podSelector } from './find-mirror.ts'
import { AgentLink } from './forward/agent-link.ts'
import { forwardText } from './forward/events.ts'
import { openAgent } from './forward/open-agent.ts'
import { openForwards } from './forward/open-forwards.ts'
import { giveBack } from './give-back.ts'
import { MirrorPod } from './mirror-pod.ts'
import { type PreparedMirror, prepareMirror } from './prepare-mirror.ts'
import { runCommand } from './run-command.ts'
import { passOutput } from './service-output.ts'
import { controlAddress, sessionFolder } from './session-folder.ts'
import { sessionForwards } from './session-forwards.ts'
import { SessionLog } from './session-log.ts'
import { openSessionSsh } from './session-ssh.ts'
import { CurrentState } from './session-state.ts'
import { Supervisor } from './supervisor.ts'
import { syncedFolder } from './sync-folders.ts'
import { type Taken, take } from './take.ts'
import type { UpInput, UpOutcome, UpWorld } from './up-input.ts'

/** What the command was called with, and the project that it has opened. */
interface Asked {
  readonly input: UpInput
  readonly project: OpenProject
}

/** Ends a session from outside; the message says why. */
class Stopped extends Error {}

/** Milliseconds for restoring the original after the session, which may have been interrupted. */
const GIVING_BACK = 60_000

/** Takes the original, and keeps the development container connected until its command ends. */
export async function runSession(
  world: UpWorld,
  asked: Asked,
  found: FoundDevelopment,
  original: KubeObject | undefined,
  given: readonly DevelopmentVariable[],
): Promise<UpOutcome> {
  const { session, workspace } = world
  const { input } = asked
  const dev = found.development.name
  if (!input.dryRun) await refuseSecond(world, dev)
  const prepared = await prepareMirror(world, input, found, original, given)
  const log = new SessionLog(sessionFolder(devctlHome(workspace), sessionKey(session, dev)), text =>
    workspace.secrets ? workspace.secrets.mask(text) : text,
  )
  const on = (event: OperationEvent) => {
    const text = logText(event)
    if (text !== undefined) log.write(text)
    world.on(event)
  }
  try {
    const taken = await take(session, prepared.take, on)
    if (taken.kind === 'planned') return { kind: 'planned', objects: taken.objects }
    on({ type: 'step', step: dev, text: taken.text })
    try {
      return await connected({ ...world, on }, asked, found, prepared, taken)
    } finally {
      await taken.release()
      if (input.downOnExit) {
        const signal = AbortSignal.timeout(GIVING_BACK)
        await giveBack({ ...session, signal }, { name: dev }, { volumes: false }, on)
      }
    }
  } catch (error) {
    if (session.signal.aborted)
      on({ type: 'note', text: `the mirror stays; \`devctl down ${dev}\` restores the original` })
    log.write(`error ${error instanceof Error ? (error.stack ?? error.message) : error}`)
    throw error
  }
}

async function refuseSecond(world: UpWorld, dev: string): Promise<void> {
  const running = await reportOf(world, dev)
  if (running)
    throw new UserError(`\`devctl up ${dev}\` already runs on this machine (process ${running.process})`, {
      hint: `\`devctl exec ${dev} -- sh\` opens another shell; \`devctl down ${dev}\` ends it`,
    })
}

/** Connects, and runs the command; what was opened is closed again. */
async function connected(
  world: UpWorld,
  { input, project }: Asked,
  { development, folder, forward, actions, runsService }: FoundDevelopment,
  { folders, container }: PreparedMirror,
  taken: Taken<SessionConfig>,
): Promise<UpOutcome> {
  const { session, workspace, on } = world
  const { cluster, namespace, access, clock } = session
  const dev = development.name
  const stop = new AbortController()
  const failed = new AbortController()
  const signal = AbortSignal.any([taken.signal, stop.signal, failed.signal])
  const undo: (() => void | Promise<void>)[] = []
  const state = new CurrentState(dev, folders, on)
  try {
    const mirror = await cluster.get(taken.mirror, { signal })
    if (!mirror)
      throw new UserError(`the mirror of \`${dev}\` has just been deleted`, { hint: 'run `devctl up` again' })
    const sync = createSync({
      folders: folders.map(syncedFolder),
      stateFolder: sessionFolder(devctlHome(workspace), sessionKey(session, dev)),
      direction: 'both',
      compression: development.sync?.compression ?? true,
      rescanInterval: development.sync?.rescanInterval ?? 300,
      reset: input.reset ?? false,
      on: event => state.tellSync(event),
    })
    undo.push(() => sync.close())
    const link = new AgentLink()
    const forwards = await openForwards({ ...sessionForwards(development, forward, session), link }, event =>
      on({ type: 'note', text: forwardText(event) }),
    )
    undo.push(() => forwards.close())
    on({ type: 'forwards', forwards: forwards.forwards, reverse: forwards.reverse })
    const pods = new MirrorPod(cluster, { namespace, labels: podSelector(mirror), dev }, clock)
    pods.watch(signal)
    const { syncPort, sshPort, hostPublicKey, clientKey } = taken.session
    const supervisor = new Supervisor({
      pod: pods,
      agent: AGENT_CONTAINER,
      container,
      sync,
      key: Buffer.from(taken.session.key, 'hex'),
      timeout: development.timeout.resources,
      on: (one, text) => state.set(one, text),
      async connect(pod, until) {
        const { openPortForward } = await import('../../adapters/kubernetes/port-forward.ts')
        return openPortForward(access, { pod: pod.metadata.name, namespace, port: syncPort }, { signal: until })
      },
      connected(pod, until) {
        const target = { pod: pod.metadata.name, namespace, port: sshPort }
        const keys = { hostKey: hostPublicKey, userKey: clientKey }
        void link.keep(one => openAgent(access, target, keys, { signal: one }), until)
      },
    })
    const report = (): SessionReport => ({
      dev,
      namespace,
      context: session.target.context,
      folder,
      state: state.state,
      text: state.text,
      ...(supervisor.ready && { pod: supervisor.ready.pod.metadata.name, container }),
      since: state.since,
      process: process.pid,
      sync: sync.status(),
    })
    const answer = async (request: ControlRequest): Promise<ControlAnswer> => {
      if (request.ask === 'stop') stop.abort(new Stopped(`\`devctl down ${dev}\` has ended the session`))
      return { ok: true, ...(request.ask === 'report' && { report: report() }) }
    }
    const address = controlAddress(devctlHome(workspace), sessionKey(session, dev), process.platform)
    const control = await serveControl(address, answer)
    undo.push(() => control.close())
    const workdir = development.workdir?.value
    undo.push(
      await openSessionSsh(world, { dev, container, workdir, port: development.remote?.value, supervisor, link }),
    )
    supervisor.run(signal).catch(error => failed.abort(error))
    taken.watch(signal).catch(error => failed.abort(error))
    if (actions.length > 0) {
      const rescanInterval = development.sync?.rescanInterval ?? 300
      const { startActions } = await import('./session-actions.ts')
      const own = { dev, container, rules: actions, rescanInterval, supervisor }
      undo.push(await startActions(world, own, { input, project }, signal))
    }
    if (input.detached || (runsService && !input.command))
      return await passOutput(supervisor, { cluster, namespace, container }, signal, text =>
        on({ type: 'output', command: dev, stream: 'stdout', text }),
      )
    const command = {
      access,
      namespace,
      container,
      command: input.command ?? development.command ?? ['sh'],
      workdir: development.workdir?.value,
      id: randomBytes(6).toString('hex'),
    }
    const status = await runCommand(supervisor, command, world.terminal, signal, reason =>
      on({ type: 'note', text: `${reason}; the command runs again as soon as ${dev} is connected` }),
    )
    // What the command has written last is here when `up` has ended.
    await supervisor.ready?.attached.settled().catch(() => {})
    return { kind: 'ended', status, dev, isDown: input.downOnExit ?? false }
  } catch (error) {
    if (!session.signal.aborted && error instanceof Stopped) return { kind: 'stopped', dev, reason: error.message }
    throw error
  } finally {
    state.set('stopped', '')
    stop.abort(new Stopped('the session is over'))
    for (const one of undo.reverse()) await one()
  }
}
