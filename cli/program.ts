import { Argument, Command as CommanderCommand, CommanderError, Option as CommanderOption } from 'commander'
import { UsageError } from '../compiler/diagnostics/user-error.ts'
import { version } from '../project/version.ts'
import { type Command, commandsBelow, lastWord } from './command.ts'
import type { LogLevel } from './log-level.ts'
import { chosenLevel, globalOptions } from './options/global.ts'
import type { Option } from './options/option.ts'
import { linesBehind } from './run/develop/develop-words.ts'
import type { Io, Output } from './terminal/io.ts'

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
  let asked: Command | undefined
  const globals = { logLevel: undefined as LogLevel | undefined, quiet: false, verbosity: 0 }
  const built = buildProgram(calledOf(argv, commands), {
    onHelp: command => {
      asked = command
    },
    onGlobal: (option, value) => {
      if (option === 'quiet') globals.quiet = true
      else if (option === 'verbose') globals.verbosity++
      else globals.logLevel = value as LogLevel
    },
    run: async (command, words, options) => {
      refuseCommandBehind(argv)
      refuseManyVolumes(command, argv)
      await refuseMount(command, argv)
      const logLevel = chosenLevel(globals)
      if (argv.includes('-v') && !argv.includes('--volumes')) await noteVolumes(command.name, io)
      onCommand?.(command.name)
      const own = globals.quiet ? { ...io, cwd: io.cwd, stdout: silent(io.stdout), programOutput: io.stdout } : io
      status = await command.run({ io: own, logLevel, commands, ...passed }, words, options)
    },
  })
  try {
    await built.parseAsync(withLongFlags(argv), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.code === 'commander.version') io.stdout.write(`devctl ${version()}\n`)
    else if (error.code === 'commander.helpDisplayed' || error.code === 'commander.help') {
      const { commandHelp, overview } = await import('./help/help.ts')
      const width = helpWidth(io)
      const isAsked = error.exitCode === 0
      const output = isAsked ? io.stdout : io.stderr
      output.write(asked ? commandHelp(asked, commands, width) : overview(commands, width))
      return isAsked ? 0 : 2
    }
    if (error.exitCode === 0) return 0
    throw (
      (await unknownCommand(error, argv, commands)) ??
      (await unknownOption(error, argv, commands)) ??
      toUsageError(error)
    )
  }
  return status
}

/**
 * Returns the commands that the parser needs for a line, because declaring all commands takes longer than most commands
 * run. A line that starts with the name of a command needs only that command and its subcommands; `devctl --help` and
 * `--version` need none.
 */
function calledOf(argv: readonly string[], commands: readonly Command[]): readonly Command[] {
  const [word] = argv
  if (argv.length === 1 && WITHOUT_COMMAND.has(word)) return []
  const called = commands.filter(({ name }) => name === word)
  return called.length > 0 ? [...called, ...commandsBelow(commands, word)] : commands
}

const WITHOUT_COMMAND = new Set<unknown>(['--help', '-h', '--version'])

/** Rewrites short flags with two characters, such as the `-v1` of `init`: the parser does not support them. */
const withLongFlags = (argv: readonly string[]): readonly string[] =>
  argv.includes('init') ? argv.map(word => (word === '-v1' ? '--v1' : word)) : argv

interface Handlers {
  readonly run: (command: Command, words: readonly string[], options: object) => Promise<void>
  /** Called with the key and the value of each global option that the line contains. */
  readonly onGlobal: (option: keyof typeof globalOptions, value: unknown) => void
  /** Called when help is requested, with the command that it is for; undefined for the help of devctl as a whole. */
  readonly onHelp: (command: Command | undefined) => void
}

function buildProgram(commands: readonly Command[], handlers: Handlers): CommanderCommand {
  const program = prepare(new CommanderCommand('devctl'), () => handlers.onHelp(undefined))
    .version('', '--version')
    .helpCommand(false)
    // Options after the command belong to the command, which may take `-v` as the value of one.
    .enablePositionalOptions()
  addGlobals(program, handlers)
  for (const command of commandsBelow(commands)) {
    const built = addCommand(program, command, handlers)
    const below = commandsBelow(commands, command.name)
    for (const one of below) addCommand(built, one, handlers)
    if (below.length > 0) refuseOtherWords(built, command.name, below)
  }
  return program
}

/**
 * Makes the parser reject any other argument after a command with subcommands, because it can only be a misspelled
 * subcommand.
 */
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

function addCommand(parent: CommanderCommand, command: Command, handlers: Handlers): CommanderCommand {
  const built = prepare(parent.command(lastWord(command)), () => handlers.onHelp(command))
  for (const { name, description, choices } of command.words ?? []) {
    const argument = new Argument(name, description)
    built.addArgument(choices ? argument.choices(choices) : argument)
  }
  addOptions(built, command.options)
  for (const flags of command.accepts ?? []) addAccepted(built, flags)
  addGlobals(built, handlers, command)
  const options = () => (parent.parent ? withInherited(built, parent) : built.opts())
  return built.action(async () => handlers.run(command, built.args, options()))
}

/**
 * Adds a flag that has no effect. Stores its value under a key that no command reads, because an accepted `--tty` must
 * not set the value of `--no-tty`.
 */
function addAccepted(built: CommanderCommand, flags: string): void {
  const accepted = new CommanderOption(flags).hideHelp()
  accepted.attributeName = () => 'accepted'
  built.addOption(accepted)
}

/**
 * Returns the values of a subcommand's options, including options before its name, as in `devctl context --namespace
 * shop use kind`.
 */
function withInherited(command: CommanderCommand, parent: CommanderCommand): Readonly<Record<string, unknown>> {
  const before = Object.entries(parent.opts<Record<string, unknown>>()).filter(
    ([key]) => parent.getOptionValueSource(key) === 'cli' && command.getOptionValueSource(key) !== 'cli',
  )
  return { ...command.opts(), ...Object.fromEntries(before) }
}

/**
 * Adds the global options. Drops a short flag that an option of the command already uses. The values go to `onGlobal`,
 * not to the options of the command.
 */
function addGlobals(built: CommanderCommand, { onGlobal }: Handlers, command?: Command): void {
  for (const [key, option] of Object.entries(globalOptions))
    for (const one of toCommanderOptions<unknown>(withoutTaken(option, command))) {
      built.addOption(one)
      built.on(`option:${one.name()}`, value => onGlobal(key as keyof typeof globalOptions, value))
    }
}

/** Returns the option without its short flag if an option of the command has it. */
function withoutTaken(option: Option<unknown>, command: Command | undefined): Option<unknown> {
  const short = /^-\w, /.exec(option.flags)?.[0]
  const isTaken = short !== undefined && Object.values(command?.options ?? {}).some(one => one.flags.startsWith(short))
  return isTaken ? { ...option, flags: option.flags.slice(short.length) } : option
}

function addOptions(command: CommanderCommand, options: Readonly<Record<string, Option<unknown>>>): void {
  for (const option of Object.values(options)) for (const one of toCommanderOptions(option)) command.addOption(one)
}

/** Configures a command of the parser to print nothing: errors are thrown, and `runProgram` writes the help. */
function prepare(command: CommanderCommand, onHelp: () => void): CommanderCommand {
  command.outputHelp = onHelp
  return command
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} })
    .helpOption('-h, --help')
}

/**
 * Returns the width of the help: the width of the terminal, but at most 100 columns, because wider text is hard to
 * read.
 */
const helpWidth = (io: Io) => Math.min(io.stdout.columns ?? 100, 100)

/**
 * Returns the options of the parser for an option: one for its flags, and a hidden one for each alias, which sets the
 * same value.
 */
function toCommanderOptions<Value>(option: Option<Value>): readonly CommanderOption[] {
  const { flags, aliases = [], choices, default: fallback, parse } = option
  const [main, ...others] = [flags, ...aliases.map(alias => flags.replace(/^.*?--[a-zA-Z0-9-]+/, alias))].map(one => {
    const made = new CommanderOption(one)
    if (choices) made.choices(choices)
    if (parse) made.argParser(parse)
    return made
  })
  if (fallback !== undefined && fallback !== false) main!.default(fallback)
  for (const other of others) other.hideHelp().attributeName = () => main!.attributeName()
  return [main!, ...others]
}

/**
 * Returns the error for a command that other tools have and devctl does not; undefined for other commands. Unknown
 * options on the same line are not reported.
 */
async function unknownCommand(
  { code }: CommanderError,
  argv: readonly string[],
  commands: readonly Command[],
): Promise<UsageError | undefined> {
  if (code !== 'commander.unknownCommand' && code !== 'commander.unknownOption') return undefined
  const { wordsOf } = await import('./called-command.ts')
  const [word] = wordsOf(argv)
  if (word === undefined || commands.some(({ name }) => name === word)) return undefined
  const { insteadOf, insteadOfLine } = await import('./command-hints.ts')
  const names = commands.map(({ name }) => name)
  const hint = insteadOf(word) ?? insteadOfLine(argv.slice(argv.indexOf(word)), names)
  return hint === undefined ? undefined : new UsageError(`unknown command \`${word}\``, { hint })
}

/**
 * Returns the error for an option of another tool, with the alternative in devctl; undefined for other options. The
 * parser would only suggest the devctl option with the most similar name, which may mean something else.
 */
async function unknownOption(
  { code, message }: CommanderError,
  argv: readonly string[],
  commands: readonly Command[],
): Promise<UsageError | undefined> {
  const option = /unknown option '([^'=]+)/.exec(message)?.[1]
  // After several names, `up` has options of its own, which may be misspelled.
  const behind = option === undefined || message.includes('(Did you mean ') ? undefined : commandBehind(argv)
  if (behind !== undefined)
    return new UsageError(`unknown option \`${option}\``, { hint: `write the command behind \`--\`: ${behind}` })
  if (code !== 'commander.unknownOption' || option === undefined) return undefined
  const { insteadOfOption, insteadOfOptionOf } = await import('./command-hints.ts')
  const { calledCommand } = await import('./called-command.ts')
  const command = calledCommand(argv, commands)
  const flags = Object.values(command?.options ?? {}).map(one => one.flags)
  const hint =
    (command?.name === 'build' ? insteadOfOption(option) : undefined) ??
    (command && insteadOfOptionOf(command.name, option, flags))
  return hint === undefined ? undefined : new UsageError(`unknown option \`${option}\``, { hint })
}

/**
 * Returns the line, in backticks, that the user probably meant by a line such as `exec api npm -v`: the same line with
 * `--` before the command for the container. Undefined for other lines.
 */
function commandBehind(argv: readonly string[]): string | undefined {
  const [name, dev, ...command] = argv
  if ((name !== 'exec' && name !== 'up') || argv.includes('--')) return undefined
  if (dev === undefined || dev.startsWith('-') || (command[0] ?? '-').startsWith('-')) return undefined
  return linesBehind(name, dev, command)
}

/** Throws a UsageError if an option that belongs to the command in the container was parsed as an option of devctl. */
function refuseCommandBehind(argv: readonly string[]): void {
  const option = argv.slice(3).find(word => /^(-[vqh]+|--verbose|--quiet|--log-?level)$/.test(word))
  // The words after `up` are names, and its options may follow them.
  const behind = option === undefined || argv[0] === 'up' ? undefined : commandBehind(argv)
  if (behind !== undefined)
    throw new UsageError(`\`${option}\` belongs to the command`, {
      hint: `write the command behind \`--\`: ${behind}`,
    })
}

/** Throws a UsageError for `-vv` if `-v` of the command means `--volumes`. In other commands, `-vv` prints more. */
function refuseManyVolumes({ name, options }: Command, argv: readonly string[]): void {
  const many = argv.slice(1).find(word => /^-vv+$/.test(word))
  if (many !== undefined && options['volumes']?.flags.startsWith('-v,'))
    throw new UsageError(`\`-v\` of \`${name}\` is \`--volumes\``, { hint: 'to print more, write `--log-level debug`' })
}

/**
 * Throws a UsageError for `run -v FROM:TO`. The parser would take `-v` for `--verbose`, and `FROM:TO` for the service.
 */
async function refuseMount({ name }: Command, argv: readonly string[]): Promise<void> {
  const dashes = argv.indexOf('--')
  const at = argv.indexOf('-v')
  if (name !== 'run' || at < 0 || (dashes >= 0 && at > dashes) || !argv[at + 1]?.includes(':')) return
  const { NO_VOLUMES } = await import('./command-hints.ts')
  throw new UsageError('`-v` of `run` is `--verbose`, and mounts no volume', { hint: NO_VOLUMES })
}

/**
 * Prints a note that `-v` does not delete volumes, for a command whose Compose counterpart deletes volumes with `-v`.
 */
async function noteVolumes(name: string, { stderr }: Io): Promise<void> {
  const { VOLUMES_HINTS } = await import('./command-hints.ts')
  if (Object.hasOwn(VOLUMES_HINTS, name)) stderr.write(`note: ${VOLUMES_HINTS[name]}\n`)
}

/** Returns a stream that drops everything. */
const silent = (output: Output): Output => ({ write: () => {}, isTTY: output.isTTY })

/**
 * Rephrases an error of commander, such as `error: unknown option '--nmae'\n(Did you mean --name?)`, in devctl's
 * wording and quotes.
 */
function toUsageError(error: CommanderError): UsageError {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  const message = first
    .replace(/^option '.*(--[a-zA-Z0-9-]+).*' argument missing$/, "'$1' needs a value")
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
