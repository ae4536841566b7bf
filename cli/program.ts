import { Argument, Command as CommanderCommand, CommanderError, Option as CommanderOption } from 'commander'
import { UsageError } from '../compiler/diagnostics/user-error.ts'
import { version } from '../project/version.ts'
import { type Command, commandsBelow, LOG_LEVELS, type LogLevel, lastWord } from './command.ts'
import { choice, type Option } from './options/option.ts'
import type { Io } from './terminal/io.ts'

const DESCRIPTION = `devctl compiles Compose files to Kubernetes manifests, deploys them to a cluster, lets you develop in containers there (up), or commits the manifests to a GitOps repository.

Results go to standard output, everything else to standard error.
Exit status: 0 success, 1 error, 2 usage error, 3 differences (diff --exit-code), 130 interrupted.`

const EPILOGUE = '\n`devctl <command> --help` shows the help of a command.'

/**
 * Runs a command line with a list of commands and returns the exit status. `onCommand` receives the name of the
 * command. Throws a UsageError for an invalid line.
 */
export async function runProgram(
  argv: readonly string[],
  io: Io,
  commands: readonly Command[],
  onCommand?: (name: string) => void,
): Promise<number> {
  let status = 0
  const dashes = argv.indexOf('--')
  const passed = dashes < 0 ? {} : { passed: argv.slice(dashes + 1) }
  const run: Run = async (command, words, options) => {
    const { loglevel } = program.opts<{ loglevel: LogLevel }>()
    const help = (name: string | undefined) => {
      let named: CommanderCommand | undefined = buildProgram(commands, io, run)
      for (const word of name?.split(' ') ?? []) named = named?.commands.find(one => one.name() === word)
      return named && helpOf(named)
    }
    onCommand?.(command.name)
    status = await command.run({ io, logLevel: loglevel, commands, help, ...passed }, words, options)
  }
  const program = buildProgram(calledOf(argv, commands), io, run)
  try {
    await program.parseAsync(withLongFlags(argv), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return 0
    if (error.code === 'commander.help') {
      io.stderr.write(helpOf(program))
      return 2
    }
    throw (
      (await unknownCommand(error, argv, commands)) ??
      (await unknownOption(error, argv, commands)) ??
      toUsageError(error)
    )
  }
  return status
}

/**
 * Returns the command that a line starts with and its subcommands, or all commands if the line starts with anything
 * else. Declaring all commands to the parser takes longer than most commands run.
 */
function calledOf([word]: readonly string[], commands: readonly Command[]): readonly Command[] {
  const called = commands.filter(({ name }) => name === word)
  return called.length > 0 ? [...called, ...commandsBelow(commands, word)] : commands
}

/** Rewrites short flags with two characters, such as the `-v1` of `init`: the parser does not support them. */
const withLongFlags = (argv: readonly string[]): readonly string[] =>
  argv.includes('init') ? argv.map(word => (word === '-v1' ? '--v1' : word)) : argv

type Run = (command: Command, words: readonly string[], options: object) => Promise<void>

function buildProgram(commands: readonly Command[], io: Io, run: Run): CommanderCommand {
  const program = prepare(new CommanderCommand('devctl'), io)
    .description(DESCRIPTION)
    .usage('[options] <command> [parameters]')
    .version(`devctl ${version()}`, '--version', 'print the version')
    .addOption(toCommanderOption(choice('--loglevel <level>', 'log level', LOG_LEVELS, 'warn')))
    .helpCommand(false)
    .addHelpText('after', EPILOGUE)
  for (const command of commandsBelow(commands)) {
    const built = addCommand(program, command, io, run)
    const below = commandsBelow(commands, command.name)
    for (const one of below) addCommand(built, one, io, run)
    if (below.length > 0) refuseOtherWords(built, command.name, below)
  }
  return program
}

/** Rejects any other argument after a command with subcommands, because it is a misspelled subcommand. */
function refuseOtherWords(built: CommanderCommand, name: string, below: readonly Command[]): void {
  // Options after a subcommand belong to the subcommand.
  built.enablePositionalOptions().allowExcessArguments()
  built.hook('preAction', async (_, called) => {
    const [word] = called.args
    if (called !== built || word === undefined) return
    const { didYouMean } = await import('../compiler/diagnostics/suggest.ts')
    // kubens and kubectx accept `namespace shop` and `context kind`.
    const use = below.some(one => lastWord(one) === 'use') ? `did you mean \`devctl ${name} use ${word}\`?` : undefined
    const hint = didYouMean(word, below.map(lastWord)) ?? use ?? `see \`devctl ${name} --help\``
    throw new UsageError(`unknown command \`${name} ${word}\``, { hint })
  })
}

function addCommand(parent: CommanderCommand, command: Command, io: Io, run: Run): CommanderCommand {
  const built = prepare(parent.command(lastWord(command)), io)
    .summary(command.summary)
    .description(command.description ?? `${command.summary}.`)
    .configureHelp({ helpWidth: helpWidth(io), showGlobalOptions: true, visibleGlobalOptions })
  for (const { name, description, choices } of command.words ?? []) {
    const argument = new Argument(name, description)
    built.addArgument(choices ? argument.choices(choices) : argument)
  }
  for (const option of Object.values(command.options)) built.addOption(toCommanderOption(option))
  if (command.examples) {
    const lines = command.examples.map(({ line, does }) => `  # ${does}\n  $ ${line}`)
    built.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
  }
  // Options may precede the subcommand: `devctl context --namespace shop use kind`.
  const inherited = () => (parent.parent ? parent.opts() : {})
  return built.action(async () => run(command, built.args, { ...inherited(), ...built.opts() }))
}

/** Returns the global options that the help of a command lists: those that change how the command works. */
function visibleGlobalOptions(command: CommanderCommand): CommanderOption[] {
  let program = command
  while (program.parent) program = program.parent
  return program.options.filter(option => option.long === '--loglevel')
}

function prepare(command: CommanderCommand, io: Io): CommanderCommand {
  return command
    .exitOverride()
    .configureOutput({
      writeOut: text => io.stdout.write(text),
      // Errors are thrown; main.ts prints them like all other errors.
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => helpWidth(io),
      getErrHelpWidth: () => helpWidth(io),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({ helpWidth: helpWidth(io), subcommandTerm })
    .helpOption('-h, --help', 'print this help')
}

/** Returns a command with its arguments, for the list of commands. */
function subcommandTerm(command: CommanderCommand): string {
  const words = command.registeredArguments.map(argument => {
    const word = argument.name() + (argument.variadic ? '...' : '')
    return argument.required ? `<${word}>` : `[${word}]`
  })
  return [command.name(), ...words].join(' ')
}

/** Text wider than 100 columns is hard to read, so help is never wider. */
const helpWidth = (io: Io) => Math.min(io.stdout.columns ?? 100, 100)

function toCommanderOption({
  flags,
  description,
  choices,
  default: fallback,
  parse,
}: Option<unknown>): CommanderOption {
  const option = new CommanderOption(flags, description)
  if (choices) option.choices(choices)
  if (fallback !== undefined && fallback !== false) option.default(fallback)
  if (parse) option.argParser(parse)
  return option
}

function helpOf(command: CommanderCommand): string {
  let text = ''
  command.configureOutput({
    writeOut: part => {
      text += part
    },
  })
  command.outputHelp()
  return text
}

/**
 * Returns the error for a command that other tools have and devctl does not. Unknown options on the same line are not
 * reported.
 */
async function unknownCommand(
  { code }: CommanderError,
  argv: readonly string[],
  commands: readonly Command[],
): Promise<UsageError | undefined> {
  if (code !== 'commander.unknownCommand' && code !== 'commander.unknownOption') return undefined
  const word = argv.find((one, index) => !one.startsWith('-') && argv[index - 1] !== '--loglevel')
  if (word === undefined || commands.some(({ name }) => name === word)) return undefined
  const { insteadOf } = await import('./command-hints.ts')
  const hint = insteadOf(word)
  return hint === undefined ? undefined : new UsageError(`unknown command \`${word}\``, { hint })
}

/**
 * Returns the error for an option of another tool; the devctl option with the most similar name may mean something
 * else.
 */
async function unknownOption(
  { code, message }: CommanderError,
  argv: readonly string[],
  commands: readonly Command[],
): Promise<UsageError | undefined> {
  const option = /unknown option '([^'=]+)/.exec(message)?.[1]
  const behind = option === undefined ? undefined : commandBehind(argv)
  if (behind !== undefined)
    return new UsageError(`unknown option \`${option}\``, { hint: `write the command behind \`--\`: \`${behind}\`` })
  if (code !== 'commander.unknownOption' || option === undefined) return undefined
  const { insteadOfOption, insteadOfOptionOf } = await import('./command-hints.ts')
  const command = commands.find(({ name }) => argv.includes(name))
  const flags = Object.values(command?.options ?? {}).map(one => one.flags)
  const hint =
    (command?.name === 'build' ? insteadOfOption(option) : undefined) ??
    (command && insteadOfOptionOf(command.name, option, flags))
  return hint === undefined ? undefined : new UsageError(`unknown option \`${option}\``, { hint })
}

/**
 * Returns the line that the user probably meant by `exec api npm -v`, whose option belongs to the command in the
 * container; undefined for other lines.
 */
function commandBehind(argv: readonly string[]): string | undefined {
  const [name, dev, ...command] = argv
  if ((name !== 'exec' && name !== 'up') || argv.includes('--')) return undefined
  if (dev === undefined || dev.startsWith('-') || (command[0] ?? '-').startsWith('-')) return undefined
  return `devctl ${name} ${dev} -- ${command.join(' ')}`
}

/**
 * Rephrases an error message of commander in devctl's wording and quotes: `error: unknown option '--nmae'\n(Did you
 * mean --name?)`.
 */
function toUsageError(error: CommanderError): UsageError {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  const message = first
    .replace(/^option '.*(--[a-z-]+).*' argument missing$/, "'$1' needs a value")
    .replace(
      /^command-argument value ('.*') is invalid for argument '(.*)'\. Allowed choices are (.*)\.$/,
      '$2 is $1, not one of $3',
    )
    .replace(/\. Expected/, ': expected')
    .replace(/'([^']*)'/g, '`$1`')
    .replace(/\.$/, '')
  const near = /\(Did you mean (?:one of )?(.*)\?\)/.exec(rest.join('\n'))?.[1]
  const names = near?.split(', ').map(name => `\`${name}\``)
  return new UsageError(message, names ? { hint: `did you mean ${names.join(' or ')}?` } : {})
}
