import { type Argument, type Command, commandsBelow, lastWord } from '../command.ts'
import type { Option, ValueKind } from '../options/option.ts'
import type { Completion, Suggestion } from './completion.ts'
import { flagsOf, optionOf, readLine, type TypedLine, takesValue } from './line.ts'

/** A request for the possible values of a kind, for shell completion. */
export interface ValueQuestion {
  readonly kind: ValueKind
  readonly line: TypedLine
  /** The part of the value before the cursor. */
  readonly current: string
}

/** Lists the possible values of a kind, such as branches, which come from files, programs or the cluster. */
export type ListKnown = (question: ValueQuestion) => Promise<readonly Suggestion[]>

/** Returns the completion of the argument `current`, which follows the arguments `before`. */
export async function completeLine(
  commands: readonly Command[],
  { before, current }: { readonly before: readonly string[]; readonly current: string },
  list: ListKnown,
): Promise<Completion> {
  const line = readLine(commands, before)
  const values = (declared: Option<unknown> | Argument, text: string) =>
    valuesOf(declared, { line, current: text }, commands, list)
  if (line.open) {
    // An optional value may be followed by anything else instead.
    const isOptional = line.open.flags.includes('[')
    if (!isOptional || !current.startsWith('-')) return values(line.open, current)
  }
  if (!line.isPassed && current.startsWith('-')) {
    const at = current.startsWith('--') ? current.indexOf('=') : -1
    if (at < 0) return plain(optionCandidates(line, current))
    const option = optionOf(current.slice(0, at), line.options)
    if (!option || !takesValue(option)) return plain([])
    return { ...(await values(option, current.slice(at + 1))), prefix: current.slice(0, at + 1) }
  }
  if (line.command === undefined)
    return plain(line.words.length > 0 || line.isPassed ? [] : commandCandidates(commands))
  const below = line.words.length > 0 || line.isPassed ? [] : commandCandidates(commands, line.command.name)
  const argument = argumentAt(line)
  if (below.length > 0 && !argument) return plain(below)
  if (argument) return values(argument, current)
  // A command without further arguments can only be followed by options.
  return plain(line.isPassed || current !== '' ? [] : optionCandidates(line, ''))
}

const plain = (candidates: readonly Suggestion[]): Completion => ({ kind: 'values', candidates, prefix: '' })

function commandCandidates(commands: readonly Command[], parent?: string): readonly Suggestion[] {
  return commandsBelow(commands, parent).map(one => ({ value: lastWord(one), description: one.summary }))
}

/**
 * Returns the options that are not used yet or may be repeated. Lists the long flags of each option, and a short flag
 * only if the user has typed it.
 */
function optionCandidates({ options, given, open }: TypedLine, current: string): readonly Suggestion[] {
  return options
    .filter(one => one.isRepeatable || !(given.has(one) || one === open))
    .flatMap(one =>
      flagsOf(one)
        .filter(flag => flag.startsWith('--') || flag === current)
        .map(value => ({ value, description: firstClause(one.description) })),
    )
}

/**
 * Returns the beginning of a description, up to the first semicolon or parenthesis, so that it fits beside a candidate.
 * The omitted rest contains conditions and defaults.
 */
const firstClause = (description: string): string => description.replace(/(?:;| \().*/s, '')

/** Returns the declaration of the next positional argument; undefined if the command takes no further argument. */
function argumentAt({ command, words }: TypedLine): Argument | undefined {
  const declared = command?.words ?? []
  const last = declared.at(-1)
  return declared[words.length] ?? (last?.name.includes('...') ? last : undefined)
}

async function valuesOf(
  declared: Option<unknown> | Argument,
  { line, current }: Omit<ValueQuestion, 'kind'>,
  commands: readonly Command[],
  list: ListKnown,
): Promise<Completion> {
  const { choices, completes: kind } = declared
  if (choices) return plain(choices.map(value => ({ value })))
  switch (kind) {
    case undefined:
      return plain([])
    case 'file':
    case 'folder':
      return { kind: `${kind}s`, prefix: '' }
    case 'command':
      return plain(commandCandidates(commands, line.words.join(' ') || undefined))
    case 'development':
      // After `--`, the command for the container follows.
      if (line.isPassed) return plain([])
  }
  const found = await list({ kind, line, current })
  const used = 'name' in declared ? line.words : (line.given.get(declared) ?? [])
  const candidates = found.filter(({ value }) => !used.includes(value))
  return { kind: kind === 'image' ? 'no-space' : 'values', candidates, prefix: '' }
}
