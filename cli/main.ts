import { LeftError, ProgramError, UsageError } from '../compiler/diagnostics/user-error.ts'
import { commands } from './commands.ts'
import { runProgram } from './program.ts'
import { INTERRUPTED } from './terminal/exit-status.ts'
import type { Io } from './terminal/io.ts'
import { redacting } from './terminal/redacting.ts'

/** Hidden command that the completion scripts run (cli/complete). */
export const COMPLETE = '__complete'

/**
 * Runs a command line and returns the exit status: 0 for success, 1 for failure, 2 for incorrect usage, 126 or 127 for
 * a program in a container that cannot be started. `argv` does not include the paths of node and the script. The only
 * function that catches errors; it never throws.
 */
export async function main(argv: readonly string[], processIo: Io): Promise<number> {
  if (argv[0] === COMPLETE) {
    const { answer } = await import('./complete/answer.ts')
    return answer(argv.slice(1), processIo, commands)
  }
  // The first access to `performance` takes Node.js a millisecond.
  const began = process.uptime()
  let command: string | undefined
  let platform: string | undefined
  const io = redacting(processIo, url => {
    platform = url
  })
  const onCommand = (name: string) => {
    command = name
  }
  const status = await runProgram(argv, io, commands, onCommand).catch(error => printError(error, argv, io))
  if (command !== undefined && platform !== undefined) {
    const { countCommand } = await import('./run/analytics.ts')
    const milliseconds = (process.uptime() - began) * 1000
    await countCommand(io, { command, platform, milliseconds, status })
  }
  return status
}

async function printError(error: unknown, argv: readonly string[], io: Io): Promise<number> {
  if (error instanceof LeftError) return INTERRUPTED
  const { errorText } = await import('./terminal/error-text.ts')
  io.stderr.write(errorText(error))
  if (error instanceof ProgramError) return error.exitStatus
  if (!(error instanceof UsageError)) return 1
  const { calledCommand } = await import('./called-command.ts')
  const command = calledCommand(argv, commands)
  if (error.hint === undefined) io.stderr.write(`  = help: see \`devctl ${command ? `${command.name} ` : ''}--help\`\n`)
  return 2
}
