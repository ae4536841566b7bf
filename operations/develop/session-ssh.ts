import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import { devctlHome, userHome } from '../contexts/home.ts'
import type { World } from '../session.ts'
import type { AgentLink } from './forward/agent-link.ts'
import type { Polling } from './polling.ts'
import type { FrontContainer } from './ssh-front/container.ts'
import { answerInclude, includeLine, includeState, sshConfigFile } from './ssh-front/entry.ts'
import type { Supervisor } from './supervisor.ts'

/** The development container of a session, for SSH clients. */
export interface SessionSsh {
  readonly dev: string
  readonly container: string
  readonly workdir: string | undefined
  /** Undefined: any port that is free. */
  readonly port: number | undefined
  readonly supervisor: Supervisor
  readonly link: AgentLink
  readonly polling: Polling
}

/**
 * Lets SSH clients of this machine into the container (`ssh api.devctl`), and says how. Without it the
 * session goes on: what keeps it from that is a warning. Gives the undo.
 */
export async function openSessionSsh(
  { session, workspace, on, ask }: World,
  { dev, container, workdir, port, supervisor, link, polling }: SessionSsh,
): Promise<() => Promise<void>> {
  const { access, namespace } = session
  const home = devctlHome(workspace)
  const front: FrontContainer = {
    tool: TOOL,
    workdir,
    variables: () => polling.variables,
    async run(command, options, signal) {
      const { pod, lost } = await supervisor.untilReady(signal)
      const { openExec } = await import('../../adapters/kubernetes/exec.ts')
      const target = { pod: pod.metadata.name, namespace, container, command, ...options }
      return openExec(access, target, { signal: AbortSignal.any([signal, lost]) })
    },
  }
  try {
    const { openFront } = await import('./ssh-front/open-front.ts')
    const { host, close } = await openFront({ home, dev, namespace, port, container: front, link })
    const own = userHome(workspace.env)
    if (ask?.maySetUpSsh && includeState(home, own) === 'unasked')
      await answerInclude(home, own, await ask.maySetUpSsh(includeLine(home, own), host))
    on({ type: 'note', text: howToConnect(host, home, own) })
    return close
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const hint = error.hint === undefined ? {} : { hint: error.hint }
    on({ type: 'warning', text: `no SSH to ${dev}: ${error.message}`, ...hint })
    return async () => {}
  }
}

function howToConnect(host: string, home: string, own: string): string {
  if (includeState(home, own) === 'included') return `\`ssh ${host}\` opens a shell in the container`
  const line = `\`${includeLine(home, own)}\` at the beginning of ~/.ssh/config makes it \`ssh ${host}\``
  return `\`ssh -F ${sshConfigFile(home)} ${host}\` opens a shell in the container; ${line}`
}
