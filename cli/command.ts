import { LOG_LEVELS, type LogLevel } from './log-level.ts'
import type { Option, ValueKind, Values } from './options/option.ts'
import type { Io } from './terminal/io.ts'

/** A command of devctl. The declaration is data and cheap to import; `run` imports the implementation. */
export interface Command<Options = object> {
  /**
   * Name of the command: a single word, or two words for a subcommand of another declared command, such as `context
   * use`.
   */
  readonly name: string
  /** Single line without a full stop, for the list of commands. */
  readonly summary: string
  /** A paragraph or two for the command's own help; defaults to the summary. */
  readonly description?: string
  /** Group in the list of commands. A subcommand belongs to the group of its parent. */
  readonly group?: CommandGroup
  /** True for a command that only `devctl help` lists, so that `devctl --help` fits on a screen. */
  readonly isSecondary?: true
  readonly words?: readonly Argument[]
  readonly options: Readonly<Record<string, Option<unknown>>>
  /**
   * Flags without a value that other tools need and devctl does not, such as `-i, --interactive`. They are accepted,
   * and no help lists them.
   */
  readonly accepts?: readonly string[]
  readonly examples?: readonly Example[]
  /** Gathers the input, calls the operation and prints the result. Returns the exit status. */
  run(context: Context, words: readonly string[], options: Options): Promise<number>
}

/** Groups in the list of commands, in the order in which help prints them. */
export const GROUPS = ['Deploy', 'Develop', 'Build', 'GitOps', 'Platform', 'Files', 'Settings'] as const
export type CommandGroup = (typeof GROUPS)[number]

/** A positional argument, written as in a synopsis: `[service...]`. */
export interface Argument {
  readonly name: string
  readonly description: string
  readonly choices?: readonly string[]
  /** Kind of value, for shell completion. */
  readonly completes?: ValueKind
}

export interface Example {
  readonly line: string
  readonly does: string
}

export { LOG_LEVELS, type LogLevel }

/** The input of every command. */
export interface Context {
  readonly io: Io
  readonly logLevel: LogLevel
  readonly commands: readonly Command[]
  /**
   * Arguments after `--`. The positional arguments of the command also contain them, at the end. Undefined without
   * `--`.
   */
  readonly passed?: readonly string[]
}

/** Returns the top-level commands of a list, or the subcommands of `parent`. */
export function commandsBelow(commands: readonly Command[], parent?: string): readonly Command[] {
  return commands.filter(({ name }) => (parent === undefined ? !name.includes(' ') : name.startsWith(`${parent} `)))
}

/** Returns the last word of a command's name: `use` for `context use`. */
export function lastWord({ name }: Command): string {
  return name.slice(name.lastIndexOf(' ') + 1)
}

/** Docker flags that give a command an input and a terminal. Commands of devctl have them without a flag. */
export const STREAM_FLAGS: readonly string[] = ['-i, --interactive', '-t, --tty']

/** Declares a command; the types of its options follow from their declarations. */
export function command<const O extends Readonly<Record<string, Option<unknown>>>>(
  declaration: Omit<Command<Values<O>>, 'options'> & { readonly options: O },
): Command {
  return declaration
}
