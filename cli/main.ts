import { UsageError, UserError } from '../compiler/diagnostics/user-error.ts'
import { shownPlace } from '../compiler/text/source.ts'
import { commands } from './commands.ts'
import { runProgram } from './program.ts'
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
  if (!(error instanceof UserError)) {
    const trace = error instanceof Error ? (error.stack ?? error.message) : String(error)
    io.stderr.write(
      `${trace}\nThis is a bug of devctl. Please report it with the lines above and the files that show it.\n`,
    )
    return 1
  }
  // Names of files and words of the command line may hold anything.
  const { printable } = await import('../compiler/values/printable.ts')
  io.stderr.write(`error: ${printable(error.message)}\n`)
  if (error.place) io.stderr.write(`  --> ${printable(shownPlace(error.place))}\n`)
  for (const note of error.notes) io.stderr.write(`  = note: ${printable(note)}\n`)
  if (error.hint !== undefined) io.stderr.write(`  = help: ${printable(error.hint)}\n`)
  if (!(error instanceof UsageError)) return 1
  // The longest name whose words are all there.
  const command = commands
    .filter(({ name }) => name.split(' ').every(word => argv.includes(word)))
    .sort((a, b) => b.name.length - a.name.length)[0]
  if (error.hint === undefined) io.stderr.write(`  = help: see \`devctl ${command ? `${command.name} ` : ''}--help\`\n`)
  return 2
}
