import { randomUUID } from 'node:crypto'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { stateHome } from '../project/contexts/home.ts'
import { requireNamespace } from '../project/namespaces.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { DevelopContext } from './context.ts'
import { endedContainer, KILLED, killedForMemory } from './exec/ended-container.ts'
import { endExec } from './exec/marked-processes.ts'
import { BROKEN_PIPE, type RemoteTerminal } from './exec/remote-terminal.ts'
import { execTarget, openCommand } from './exec/run-command.ts'
import { runningContainer } from './mirror/find-mirror.ts'
import { declaredDevelopment, knownDevelopments } from './mirror/known-developments.ts'
import type { DevelopmentInput } from './select/find-development.ts'
import { reportOf, sessionKey } from './session/ask.ts'
import { Polling } from './session/polling.ts'
import { sessionFolder } from './session/session-folder.ts'

export interface ExecInput extends DevelopmentInput {
  /** Program and its arguments. */
  readonly command: readonly string[]
}

/**
 * Runs a command in the container of an active development container: in the container that `up` on this machine uses,
 * or else in the mirror's container in the cluster. Returns its exit status. Also ends the command in the container if
 * it is interrupted, or if its output is no longer read. Throws a UserError if no development container is active.
 */
export async function exec(
  world: DevelopContext & { readonly terminal: RemoteTerminal },
  { command, dev: wanted, ...input }: ExecInput,
  project: OpenProject,
): Promise<number> {
  const { session, terminal } = world
  const { namespace, access, signal } = session
  const devs = wanted === undefined ? [] : [wanted]
  const [dev] = (await knownDevelopments(world, { ...input, devs }, project, { one: true })) as [string]
  const development = declaredDevelopment(project, dev)
  const report = await reportOf(world, dev)
  const found = await runningContainer(session, dev)
  if (!found && !report) await requireNamespace(session)
  if (!found)
    throw new UserError(
      report
        ? `\`${dev}\` is not ready: ${report.state}${report.text && `, ${report.text}`}`
        : `no development container \`${dev}\` is active in ${namespace}`,
      {
        hint: report
          ? 'try again in a moment'
          : `start it with \`devctl up ${dev}\`; \`devctl exec --service ${dev} -- sh\` enters the deployed service`,
      },
    )
  if (development?.mode === 'hybrid')
    throw new UserError(`\`${dev}\` runs its command on this machine (\`mode: hybrid\`)`, {
      hint: 'run the command here',
    })
  const { pod, container } = found
  const polling = new Polling(sessionFolder(stateHome(world.workspace), sessionKey(session, dev)))
  const running = { namespace, container, command, workdir: development?.workdir?.value, polling }
  const id = randomUUID()
  const at = { access, namespace, pod, container }
  const remote = await openCommand(access, execTarget(running, pod, terminal, { exec: id }), signal)
  const status = await terminal.attach(remote).catch(async (error: unknown) => {
    await endExec(at, id)
    throw error
  })
  if (status === BROKEN_PIPE) await endExec(at, id)
  if (status !== KILLED) return status
  const ended = () => endedContainer({ cluster: session.cluster, pod, container }, status, () => undefined, signal)
  const killed = (await killedForMemory(at, status, signal)) ?? (await ended())
  if (killed !== undefined) world.on({ type: 'warning', text: killed })
  return status
}
