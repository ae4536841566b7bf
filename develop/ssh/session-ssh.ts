import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { SHARED_PATH } from '../../constructs/mirror/names.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import { stateHome, userHome } from '../../project/contexts/home.ts'
import type { DevelopContext } from '../context.ts'
import type { AgentLink } from '../ports/agent-link.ts'
import type { Polling } from '../session/polling.ts'
import { clusterId } from '../session/session-folder.ts'
import type { Supervisor } from '../session/supervisor.ts'
import type { FrontContainer } from './container.ts'
import { answerInclude, hostOf, includeLine, includeState, sshConfigFile } from './entry.ts'

/** The development container of a session, as input for its SSH server. */
export interface SessionSsh {
  readonly dev: string
  readonly container: string
  readonly workdir: string | undefined
  /** Port to listen on; undefined for any free port. */
  readonly port: number | undefined
  readonly supervisor: Supervisor
  readonly link: AgentLink
  readonly polling: Polling
}

/** An SSH server that is open for clients. */
export interface OpenedSsh {
  /**
   * Reports how clients connect. First asks whether to configure `ssh` for it, if the user has never been asked on this
   * machine.
   */
  tell(): Promise<void>
  close(): Promise<void>
}

/**
 * Lets SSH clients on this machine connect to the container (`ssh api.devctl`). If that fails, reports a warning, and
 * the session continues without SSH.
 */
export async function openSessionSsh(
  world: DevelopContext,
  { dev, container, workdir, port, supervisor, link, polling }: SessionSsh,
): Promise<OpenedSsh> {
  const { session, workspace, on } = world
  const { access, namespace, target } = session
  const home = stateHome(workspace)
  const front: FrontContainer = {
    tool: TOOL,
    workdir,
    shared: SHARED_PATH,
    variables: () => polling.variables,
    async run(command, options, signal) {
      const { pod, lost } = await supervisor.untilReady(signal)
      const { openExec } = await import('../../adapters/kubernetes/exec.ts')
      const target = { pod: pod.metadata.name, namespace, container, command, ...options }
      return openExec(access, target, { signal: AbortSignal.any([signal, lost]) })
    },
  }
  try {
    const { openFront } = await import('./open-front.ts')
    const cluster = { id: clusterId(access.server.href), name: target.context }
    const { host, close } = await openFront({ home, dev, namespace, cluster, port, container: front, link })
    const tell = async () => {
      await askToIncludeSsh(world, dev)
      const isIncluded = includeState(home, userHome(workspace.env)) === 'included'
      on({ type: 'ssh', host, command: isIncluded ? `ssh ${host}` : `ssh -F ${sshConfigFile(home)} ${host}` })
    }
    return { tell, close }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const hint = error.hint === undefined ? {} : { hint: error.hint }
    on({ type: 'warning', text: `no SSH to ${dev}: ${error.message}`, ...hint })
    return { tell: async () => {}, close: async () => {} }
  }
}

/** Asks, only once on this machine, whether `ssh` may be configured to find development containers by name. */
export async function askToIncludeSsh(
  { workspace, ask }: Pick<DevelopContext, 'workspace' | 'ask'>,
  dev: string,
): Promise<void> {
  const [home, own] = [stateHome(workspace), userHome(workspace.env)]
  if (ask?.maySetUpSsh && includeState(home, own) === 'unasked')
    await answerInclude(home, own, await ask.maySetUpSsh(includeLine(home, own), hostOf(dev)))
}
