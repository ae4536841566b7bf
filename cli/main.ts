import { LeftError, UsageError } from '../compiler/diagnostics/user-error.ts'
import { commands } from './commands.ts'
import { runProgram } from './program.ts'
import { INTERRUPTED } from './terminal/exit-status.ts'
import type { Io } from './terminal/io.ts'
import { redacting } from './terminal/redacting.ts'

/**
 * Runs a command line, given without the names of node and of the script, and gives the exit status: 0 done, 1 failed, 2 wrong usage.
 * The only place that catches; it never throws.
 */
export async function main(argv: readonly string[], processIo: Io): Promise<number> {
  const io = redacting(processIo)
  try {
    return await runProgram(argv, io, commands)
  } catch (error) {
    return printError(error, argv, io)
  }
}

async function printError(error: unknown, argv: readonly string[], io: Io): Promise<number> {
  if (error instanceof LeftError) return INTERRUPTED
  const { errorText } = await import('./terminal/error-text.ts')
  io.stderr.write(errorText(error))
  if (!(error instanceof UsageError)) return 1
  // The longest name whose words are all there.
  const command = commands
    .filter(({ name }) => name.split(' ').every(word => argv.includes(word)))
    .sort((a, b) => b.name.length - a.name.length)[0]
  if (error.hint === undefined) io.stderr.write(`  = help: see \`devctl ${command ? `${command.name} ` : ''}--help\`\n`)
  return 2
}
