import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import type { Context } from '../../command.ts'
import type { LoadingValues } from '../../options/project.ts'
import { remoteTerminal } from '../../terminal/remote-terminal.ts'
import { printsDiagnostics } from '../../terminal/report.ts'
import type { SessionOptions } from '../cluster-session.ts'
import { withProject } from '../project-session.ts'
import { chooseDevFor } from './choose-dev.ts'
import { splitOne } from './develop-words.ts'

export type ExecValues = LoadingValues & Omit<SessionOptions, 'timeout' | 'isEndless'>

/** Runs a command in a development container and returns its exit status. */
export async function execute(context: Context, words: readonly string[], options: ExecValues): Promise<number> {
  const { dev, command } = splitOne(words, context, 'exec')
  if (command.length === 0)
    throw new UsageError('there is no command to run', {
      hint: `write it behind two dashes: \`devctl exec ${dev ?? ''}${dev ? ' ' : ''}-- sh\``,
    })
  const endless = { ...options, var: undefined, timeout: undefined, isEndless: true, asksFirst: true as const }
  return withProject(context, endless, async (own, project, session) => {
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
