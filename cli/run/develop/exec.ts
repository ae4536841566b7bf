import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import type { Context } from '../../command.ts'
import type { ExecValues } from '../../commands/exec.ts'
import { remoteTerminal } from '../../terminal/remote-terminal.ts'
import { printsDiagnostics } from '../../terminal/report.ts'
import { withProject } from '../project-session.ts'
import { chooseDevFor } from './choose-dev.ts'
import { linesBehind, shellLine, splitOne, splitWords } from './develop-words.ts'

/** Runs a command in a development container, or in a deployed service, and returns its exit status. */
export async function execute(context: Context, words: readonly string[], options: ExecValues): Promise<number> {
  if (options.service !== undefined) return executeInService(context, words, { ...options, service: options.service })
  refuseWithoutService(options)
  const { dev, command } = splitOne(words, context, 'exec')
  requireCommand(command, dev === undefined ? '`devctl exec -- sh`' : linesBehind('exec', dev, ['sh']))
  return withProject(context, endless(options), async (own, project, session) => {
    const { exec } = await import('../../../develop/exec.ts')
    const world = {
      workspace: own.io,
      session,
      on: printsDiagnostics(own),
      terminal: remoteTerminal(process, own.io.env),
    }
    return exec(world, { ...options, dev, command, choose: chooseDevFor(own.io) }, project)
  })
}

async function executeInService(
  context: Context,
  words: readonly string[],
  options: ExecValues & { readonly service: string },
): Promise<number> {
  const { devs, command } = splitWords(words, context)
  if (devs.length > 0)
    throw new UsageError(`\`${devs[0]}\` is one word too many`, {
      hint: `put the command behind two dashes: \`devctl exec --service ${options.service} -- ${shellLine(devs)}\``,
    })
  requireCommand(command, `\`devctl exec --service ${options.service} -- sh\``)
  return withProject(context, endless(options), async (own, project, session) => {
    const { execService } = await import('../../../containers/exec/exec-service.ts')
    const terminal = remoteTerminal(process, own.io.env)
    const world = { workspace: own.io, session, on: printsDiagnostics(own), terminal }
    return execService(world, { ...options, command }, project)
  })
}

const endless = (options: ExecValues) => ({
  ...options,
  var: undefined,
  timeout: undefined,
  isEndless: true,
  asksFirst: true as const,
})

function requireCommand(command: readonly string[], line: string): void {
  if (command.length === 0)
    throw new UsageError('there is no command to run', { hint: `write it behind two dashes: ${line}` })
}

/** Throws a UsageError for an option that only has a meaning with `--service`. */
function refuseWithoutService({ index, container, name }: ExecValues): void {
  const option =
    index !== undefined ? '--index' : container !== undefined ? '--container' : name !== undefined && '--name'
  if (option)
    throw new UsageError(`\`${option}\` has no meaning for a development container`, {
      hint: 'name the deployed service with `--service`',
    })
}
