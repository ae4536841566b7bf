import { type Command, commandsBelow } from '../command.ts'
import { globalOptions } from '../options/global.ts'
import { flag, type Option } from '../options/option.ts'

const HELP = flag('-h, --help', 'print help')
const VERSION = flag('--version', 'print the version')

/** The parsed command line before the argument that is completed. */
export interface TypedLine {
  /** The command, or undefined if the line does not name one yet. */
  readonly command: Command | undefined
  /** Options that are possible as the next argument. */
  readonly options: readonly Option<unknown>[]
  /** Values of the options so far, by option; an option without a value has the value ''. */
  readonly given: ReadonlyMap<Option<unknown>, readonly string[]>
  /** Positional arguments so far, without the names of the command. */
  readonly words: readonly string[]
  /** True if `--` precedes the argument that is completed. */
  readonly isPassed: boolean
  /** Option whose value is the next argument; undefined if the next argument is not the value of an option. */
  readonly open: Option<unknown> | undefined
}

/** Parses the arguments before the argument that is completed, in the same way as the parser of the command line. */
export function readLine(commands: readonly Command[], before: readonly string[]): TypedLine {
  let command: Command | undefined
  let isPassed = false
  let open: Option<unknown> | undefined
  const given = new Map<Option<unknown>, readonly string[]>()
  const words: string[] = []
  const give = (option: Option<unknown>, value: string) => given.set(option, [...(given.get(option) ?? []), value])
  for (const word of before) {
    if (open) {
      // An optional value does not begin with a dash.
      const isValue = needsValue(open) || !word.startsWith('-')
      give(open, isValue ? word : '')
      open = undefined
      if (isValue) continue
    }
    if (isPassed) words.push(word)
    else if (word === '--') isPassed = true
    else if (word.startsWith('-') && word !== '-') {
      const { option, value } = optionIn(word, optionsOf(command))
      if (option === undefined) continue
      if (value !== undefined || !takesValue(option)) give(option, value ?? '')
      else open = option
    } else {
      const below = words.length > 0 ? undefined : commandBelow(commands, command, word)
      if (below) command = below
      else words.push(word)
    }
  }
  return { command, options: optionsOf(command), given, words, isPassed, open }
}

/** Returns the option that has a flag, either shown in help or as a hidden alias; undefined for an unknown flag. */
export const optionOf = (flag: string, options: readonly Option<unknown>[]): Option<unknown> | undefined =>
  options.find(one => flagsOf(one).includes(flag) || one.aliases?.includes(flag))

/** Returns the flags of an option: `-f` and `--file`. */
export function flagsOf({ flags }: Option<unknown>): readonly string[] {
  return flags.replace(/[<[].*/, '').match(/--?[A-Za-z][\w-]*/g) ?? []
}

export const takesValue = ({ flags }: Option<unknown>): boolean => /[<[]/.test(flags)

const needsValue = ({ flags }: Option<unknown>): boolean => flags.includes('<')

function optionsOf(command: Command | undefined): readonly Option<unknown>[] {
  const everywhere = Object.values(globalOptions)
  return command ? [...Object.values(command.options), ...everywhere, HELP] : [...everywhere, VERSION, HELP]
}

function commandBelow(commands: readonly Command[], command: Command | undefined, word: string): Command | undefined {
  const name = command ? `${command.name} ${word}` : word
  return commandsBelow(commands, command?.name).find(one => one.name === name)
}

/**
 * Returns the option in an argument such as `--file=x`, `-f` or `-fx`, and the value that follows in the same argument.
 * Either is undefined if the argument does not contain it.
 */
function optionIn(
  word: string,
  options: readonly Option<unknown>[],
): { readonly option: Option<unknown> | undefined; readonly value: string | undefined } {
  const named = (flag: string) => optionOf(flag, options)
  const whole = named(word)
  if (whole) return { option: whole, value: undefined }
  if (word.startsWith('--')) {
    const at = word.indexOf('=')
    return at < 0
      ? { option: undefined, value: undefined }
      : { option: named(word.slice(0, at)), value: word.slice(at + 1) }
  }
  const option = named(word.slice(0, 2))
  // Several short flags in one argument: the last may need a value.
  if (option && !takesValue(option)) return optionIn(`-${word.slice(2)}`, options)
  return { option, value: word.slice(2) }
}
