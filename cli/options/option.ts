import { UsageError } from '../../compiler/diagnostics/user-error.ts'

/** Kinds of values that shell completion lists (cli/complete/kinds.ts). */
export type ValueKind =
  | 'branch'
  | 'code'
  | 'command'
  | 'context'
  | 'deployed'
  | 'development'
  | 'environment'
  | 'file'
  | 'folder'
  | 'image'
  | 'namespace'
  | 'pipeline'
  | 'preview'
  | 'profile'
  | 'service'

/** An option as data. Its key in the declaration is its long flag in camel case. */
export interface Option<Value> {
  /** Flags as shown in the help: `-f, --file <path>`. */
  readonly flags: string
  readonly description: string
  /** Description in the help that fits on a screen; defaults to the first clause of `description`. */
  readonly short?: string
  readonly default?: Value
  readonly choices?: readonly string[]
  /** Kind of value, for shell completion. */
  readonly completes?: ValueKind
  /** Further long flags with the same meaning, which help does not list: `['--format']`. */
  readonly aliases?: readonly string[]
  /**
   * Group of an option that many commands have. `devctl COMMAND --help` does not list such an option, but `devctl help
   * options` does.
   */
  readonly common?: CommonGroup
  /** True if the option may be repeated, so that shell completion offers it again. */
  readonly isRepeatable?: true
  /**
   * Parses the text of one use of the option. Returns the value of the option after this use; `previous` is the value
   * before it. Throws a UsageError if the text is invalid. Without `parse`, the option is a flag, or its value is the
   * text itself.
   */
  parse?(text: string, previous: Value | undefined): Value
}

/** Groups of common options, in the order in which `devctl help options` prints them. */
export const COMMON_GROUPS = ['files', 'manifests', 'target', 'waiting', 'output'] as const
export type CommonGroup = (typeof COMMON_GROUPS)[number]

/** Values of a set of declared options. */
export type Values<Options> = {
  readonly [Key in keyof Options]: Options[Key] extends Option<infer Value> ? Value : never
}

type Completes = { readonly completes?: ValueKind }

/** Declares an option without a value. */
export function flag(flags: string, description: string): Option<boolean> {
  return { flags, description, default: false }
}

/** Declares an option with one text value. `check` throws a UsageError if the value is invalid. The last use wins. */
export function text(
  flags: string,
  description: string,
  { check, completes }: Completes & { readonly check?: (value: string, option: string) => void } = {},
): Option<string | undefined> {
  const name = longFlag(flags)
  const parse = (value: string) => {
    notEmpty(value, name)
    check?.(value, name)
    return value
  }
  return { flags, description, parse, ...(completes && { completes }) }
}

/** Declares an option whose value is optional; without a value, it is `true`. */
export function optionalText(
  flags: string,
  description: string,
  { completes }: Completes = {},
): Option<string | true | undefined> {
  return { flags, description, ...(completes && { completes }) }
}

/** Declares an option that may be repeated. */
export function list(
  flags: string,
  description: string,
  { completes }: Completes = {},
): Option<readonly string[] | undefined> {
  const name = longFlag(flags)
  const parse = (value: string, previous: readonly string[] | undefined) => {
    notEmpty(value, name)
    return [...(previous ?? []), value]
  }
  return { flags, description, parse, isRepeatable: true, ...(completes && { completes }) }
}

/** Declares an option whose value is one of a fixed set. */
export function choice<const Word extends string>(
  flags: string,
  description: string,
  choices: readonly Word[],
  fallback: Word,
): Option<Word>
export function choice<const Word extends string>(
  flags: string,
  description: string,
  choices: readonly Word[],
): Option<Word | undefined>
export function choice(flags: string, description: string, choices: readonly string[], fallback?: string) {
  const name = longFlag(flags)
  const parse = (value: string) => {
    if (choices.includes(value)) return value
    throw new UsageError(`\`${name}\` is \`${value}\``, {
      hint: `use ${choices.map(one => `\`${one}\``).join(' or ')}`,
    })
  }
  return { flags, description, choices, default: fallback, parse }
}

/** Puts options that many commands have into a group of `devctl help options`. */
export function common<const O extends Readonly<Record<string, object>>>(group: CommonGroup, options: O): O {
  // Each entry keeps its type.
  return Object.fromEntries(Object.entries(options).map(([key, one]) => [key, { ...one, common: group }])) as O
}

/** Gives an option a description for the help that fits on a screen. */
export function brief<O extends object>(option: O, short: string): O {
  return { ...option, short }
}

/** Gives an option further long flags, which help does not list. */
export function aliased<O extends object>(option: O, ...aliases: readonly string[]): O {
  return { ...option, aliases }
}

/** Returns the long flag: `--file` for `-f, --file <path>`. */
export function longFlag(flags: string): string {
  return /--[a-z0-9-]+/.exec(flags)![0]
}

function notEmpty(value: string, name: string): void {
  if (value === '') throw new UsageError(`\`${name}\` is empty`)
}
