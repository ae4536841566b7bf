import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import type { Context } from '../command.ts'
import type { RunValues } from '../commands/run.ts'
import { writeBytes } from '../terminal/redacting.ts'
import { remoteTerminal } from '../terminal/remote-terminal.ts'
import { printSummary, printsDiagnostics } from '../terminal/report.ts'
import { standardInput } from '../terminal/standard-input.ts'
import { deadlineOf } from './deadline.ts'
import { splitOne } from './develop/develop-words.ts'
import { withProject } from './project-session.ts'

/** Starts one run of a job or service, prints its output, and returns its exit status. */
export async function runOnce(context: Context, words: readonly string[], options: RunValues): Promise<number> {
  const { dev: service, command } = splitOne(words, context, 'run')
  if (service === undefined)
    throw new UsageError('no job or service is named', { hint: 'write it before `--`: `devctl run backup`' })
  const { io, logLevel } = context
  const variables = Object.fromEntries((options.env ?? []).flatMap(one => pairOf(one, io.env)))
  io.secrets?.add(Object.values(variables))
  const startTimeout = deadlineOf(io, options.timeout)
  const endless = { ...options, var: undefined, timeout: undefined, isEndless: true }
  return withProject(context, endless, async (own, project, session) => {
    const { run } = await import('../../containers/run/run.ts')
    const write = (part: Uint8Array) => writeBytes(io.programOutput ?? io.stdout, part)
    const terminal = remoteTerminal(process, own.io.env)
    const streams = options.tty !== false && terminal.size ? { terminal } : { input: standardInput() }
    const world = { workspace: own.io, session, on: printsDiagnostics(own), write, ...(!options.detach && streams) }
    const noDeps = options.deps === false
    const input = { ...options, service, command, variables, noDeps, startTimeout }
    const { job, namespace, status } = await run(world, input, project)
    if (status === undefined) {
      io.stdout.write(`${job}\n`)
      const hints = `\`devctl logs ${job}\` follows it, and \`devctl stop ${job}\` ends it`
      printSummary(`${service} runs in ${namespace}; ${hints}`, io, logLevel)
    }
    return status ?? 0
  })
}

/**
 * Returns the name and value in `NAME=VALUE`. If only a name is given, returns the name with its value in the shell, or
 * nothing if the shell has no such variable.
 */
function pairOf(text: string, shell: Readonly<Record<string, string | undefined>>): (readonly [string, string])[] {
  const at = text.indexOf('=')
  if (at > 0) return [[text.slice(0, at), text.slice(at + 1)]]
  const value = shell[text]
  return value === undefined ? [] : [[text, value]]
}
