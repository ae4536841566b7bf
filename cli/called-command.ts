import { type Command, commandsBelow, lastWord } from './command.ts'

/** Returns the words of a line without its options and without the value of the global option `--log-level`. */
export function wordsOf(argv: readonly string[]): readonly string[] {
  return argv.filter((one, index) => !one.startsWith('-') && !/^--log-?level$/.test(argv[index - 1] ?? ''))
}

/**
 * Returns the command that a line calls, or tries to call; undefined if it names none. Options with values may precede
 * the command and its subcommand, as in `context --namespace shop use kind`.
 */
export function calledCommand(argv: readonly string[], commands: readonly Command[]): Command | undefined {
  const words = wordsOf(argv)
  const called = words.flatMap(word => commands.find(({ name }) => name === word) ?? [])[0]
  const below = called ? commandsBelow(commands, called.name) : []
  return words.flatMap(word => below.find(command => lastWord(command) === word) ?? [])[0] ?? called
}
