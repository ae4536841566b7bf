import type { Option, Values } from './options/option.ts'
import type { Io } from './terminal/io.ts'

/** A command of devctl. The declaration is data and light to import; `run` imports what does the work. */
export interface Command<Options = object> {
  /** Name of one argument, or two for a subcommand of another declared command: `context use`. */
  readonly name: string
  /** Single line without a full stop, for the list of commands. */
  readonly summary: string
  /** A paragraph or two for the command's own help; default the summary. */
  readonly description?: string
  readonly words?: readonly Argument[]
  readonly options: Readonly<Record<string, Option<unknown>>>
  readonly examples?: readonly Example[]
  /** Gathers, calls, prints. Gives the exit status. */
  run(context: Context, words: readonly string[], options: Options): Promise<number>
}

/** A positional argument, written as in a synopsis: `[service...]`. */
export interface Argument {
  readonly name: string
  readonly description: string
  readonly choices?: readonly string[]
  /** The type of the value, for completion. */
  readonly completes?: 'service' | 'context' | 'command'
}

export interface Example {
  readonly line: string
  readonly does: string
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The input of every command. */
export interface Context {
  readonly io: Io
  readonly logLevel: LogLevel
  readonly commands: readonly Command[]
  /** The words after `--`, which are also the last of the command's words; undefined without `--`. */
  readonly passed?: readonly string[]
  /** The help of a command (`context use`), or of devctl as a whole; undefined for a name that is no command. */
  readonly help: (command: string | undefined) => string | undefined
}

/** The commands of a list that stand below none, or below this one. */
export function commandsBelow(commands: readonly Command[], parent?: string): readonly Command[] {
  return commands.filter(({ name }) => (parent === undefined ? !name.includes(' ') : name.startsWith(`${parent} `)))
}

/** The last word of a command's name: `use` of `context use`. */
export function lastWord({ name }: Command): string {
  return name.slice(name.lastIndexOf(' ') + 1)
}

/** Declares a command; the types of its options follow from their declarations. */
export function command<const O extends Readonly<Record<string, Option<unknown>>>>(
  declaration: Omit<Command<Values<O>>, 'options'> & { readonly options: O },
): Command {
  return declaration
}
