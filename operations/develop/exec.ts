import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { devctlHome } from '../contexts/home.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { World } from '../session.ts'
import { reportOf, sessionKey } from './ask.ts'
import { type DevelopmentInput, findDevelopment } from './find-development.ts'
import { runningContainer } from './find-mirror.ts'
import { Polling } from './polling.ts'
import type { RemoteTerminal } from './remote-terminal.ts'
import { execTarget } from './run-command.ts'
import { sessionFolder } from './session-folder.ts'

export interface ExecInput extends DevelopmentInput {
  /** The program and its arguments. */
  readonly command: readonly string[]
}

/**
 * Runs a command in the container of an active development container: that of the `up` on this
 * machine, else that of the mirror in the cluster. Gives its exit status. Throws a UserError where
 * none is active.
 */
export async function exec(
  world: World & { readonly terminal: RemoteTerminal },
  { command, ...input }: ExecInput,
  project: OpenProject,
): Promise<number> {
  const { session, terminal } = world
  const { namespace, access, signal } = session
  const { development } = await findDevelopment(world, input, project)
  const report = await reportOf(world, development.name)
  const found = await runningContainer(session, development.name)
  if (!found)
    throw new UserError(
      report
        ? `\`${development.name}\` is not ready: ${report.state}${report.text && `, ${report.text}`}`
        : `no development container \`${development.name}\` is active in ${namespace}`,
      { hint: report ? 'try again in a moment' : `start it with \`devctl up ${development.name}\`` },
    )
  if (development.mode === 'hybrid')
    throw new UserError(`\`${development.name}\` runs its command on this machine (\`mode: hybrid\`)`, {
      hint: 'run the command here',
    })
  const { openExec } = await import('../../adapters/kubernetes/exec.ts')
  const { pod, container } = found
  const polling = new Polling(sessionFolder(devctlHome(world.workspace), sessionKey(session, development.name)))
  const remote = await openExec(
    access,
    execTarget({ namespace, container, command, workdir: development.workdir?.value, polling }, pod, terminal),
    {
      signal,
    },
  )
  return terminal.attach(remote)
}
