import { type Argument, type Command, commandsBelow, GROUPS, lastWord } from '../command.ts'
import { globalOptions } from '../options/global.ts'
import { COMMON_GROUPS, type CommonGroup, longFlag, type Option } from '../options/option.ts'
import { columns, oneLine, wrap } from './layout.ts'
import { descriptionText, flagsText, shortText } from './option-text.ts'

/** Width of help that is not for a terminal, in columns. */
export const WIDTH = 100

/**
 * Maximum number of lines, and of examples, in the help of a command, so that it fits on a screen. `devctl help
 * COMMAND` prints all examples.
 */
const LINES = 50
const EXAMPLES = 3

export const DESCRIPTION = [
  'devctl compiles Compose files to Kubernetes manifests, deploys them to a cluster, lets you develop in containers there (up), or commits the manifests to a GitOps repository.',
  'Results go to standard output, everything else to standard error.',
  'Exit status: 0 success, 1 error, 2 usage error, 3 differences (diff --exit-code), 130 interrupted.',
]

export const HELP: Option<unknown> = { flags: '-h, --help', description: 'print the help of the command' }

/** Titles of the groups of common options in the help. */
export const GROUP_NAMES: Readonly<Record<CommonGroup, string>> = {
  files: 'Files',
  manifests: 'Manifests',
  target: 'Target',
  waiting: 'Waiting',
  output: 'Output',
}

/**
 * Returns the text of `devctl --help`: the commands by group, one line each, without commands that only `devctl help`
 * lists.
 */
export function overview(commands: readonly Command[], width = WIDTH): string {
  const top = commandsBelow(commands).filter(({ isSecondary }) => !isSecondary)
  const names = Math.max(...top.map(({ name }) => name.length))
  const rows = [...GROUPS, undefined].flatMap(group =>
    top
      .filter(one => one.group === group)
      .map(({ name, summary }, index): readonly [string, string] => [
        `${(index === 0 ? (group ?? 'Other') : '').padEnd(10)}${name.padEnd(names)}`,
        summary,
      ]),
  )
  return text([
    'Usage: devctl [options] <command> [parameters]',
    '',
    'Deploys Compose files to Kubernetes, and lets you develop there.',
    '',
    ...columns(rows, width, oneLine),
    '',
    'Help of a command: devctl COMMAND --help (all of it: devctl help COMMAND)',
    'Options that many commands have: devctl help options',
    'Everything, also less common commands: devctl help',
  ])
}

/** Returns the help of a command in one screen: its own options, and up to three examples. */
export function commandHelp(command: Command, commands: readonly Command[], width = WIDTH): string {
  const { summary, examples = [] } = command
  const options = Object.values(command.options)
  const own = options.filter(({ common }) => common === undefined)
  const groups = COMMON_GROUPS.filter(group => group === 'output' || options.some(({ common }) => common === group))
  const before = [
    `${summary}.`,
    '',
    ...wrap(`Usage: ${usage(command, commands)}`, width),
    ...section('Arguments', columns(command.words?.map(wordRow) ?? [], width, oneLine)),
    ...section('Commands', below(command, commands, width)),
    ...section('Options', columns(own.map(shortRow), width, oneLine)),
  ]
  const after = [
    '',
    `Common options (${groups.join(', ')}): devctl help options`,
    `Full description: devctl help ${command.name}`,
  ]
  const withExamples = (count: number): readonly string[] => [
    ...before,
    ...section(
      'Examples',
      examples.slice(0, count).flatMap(one => example(one, width)),
    ),
    ...after,
  ]
  let lines = withExamples(EXAMPLES)
  for (let count = EXAMPLES - 1; count >= 0 && lines.length > LINES; count--) lines = withExamples(count)
  return text(lines)
}

/** Returns the full help of a command: `devctl help COMMAND`. */
export function fullHelp(command: Command, commands: readonly Command[], width = WIDTH): string {
  const { summary, description = `${summary}.`, examples = [] } = command
  const options = Object.values(command.options)
  const of = (group: CommonGroup | undefined) => options.filter(({ common }) => common === group)
  return text([
    ...wrap(`Usage: ${usage(command, commands)}`, width),
    '',
    ...paragraphs(description, width),
    ...section('Arguments', columns(command.words?.map(wordRow) ?? [], width)),
    ...section('Commands', below(command, commands, width)),
    ...section('Options', columns(of(undefined).map(optionRow), width)),
    ...COMMON_GROUPS.flatMap(group => {
      const always = group === 'output' ? [...Object.values(globalOptions), HELP] : []
      return section(`${GROUP_NAMES[group]} options`, columns([...of(group), ...always].map(optionRow), width))
    }),
    ...section(
      'Examples',
      examples.flatMap(({ line, does }) => [`  # ${does}`, `  $ ${line}`]),
    ),
  ])
}

/** Returns the options that many commands have: `devctl help options`. */
export function optionsHelp(commands: readonly Command[], width = WIDTH): string {
  const all = [...commands.flatMap(({ options }) => Object.values(options)), ...Object.values(globalOptions), HELP]
  const groups = COMMON_GROUPS.flatMap(group => {
    const found = new Map<string, Option<unknown>>()
    for (const one of all) {
      const isOf = one.common === group || (group === 'output' && one === HELP)
      if (isOf && !found.has(longFlag(one.flags))) found.set(longFlag(one.flags), one)
    }
    return section(`${GROUP_NAMES[group]} options`, columns([...found.values()].map(shortRow), width, oneLine))
  })
  return text([
    'Options of many commands; `devctl COMMAND --help` says which of these groups a command has.',
    ...groups,
  ])
}

/** Returns the text of `devctl help`: all commands with their subcommands, and the common options. */
export function everything(commands: readonly Command[], width = WIDTH): string {
  const groups = [...GROUPS, undefined].flatMap(group => {
    const rows = commandsBelow(commands)
      .filter(one => one.group === group)
      .flatMap(one => [one, ...commandsBelow(commands, one.name)])
      .map((one): readonly [string, string] => [[one.name, ...words(one)].join(' '), one.summary])
    return section(group ?? 'Other', columns(rows, width))
  })
  return text([
    'Usage: devctl [options] <command> [parameters]',
    '',
    ...paragraphs(DESCRIPTION.join('\n\n'), width),
    ...groups,
    '',
    ...optionsHelp(commands, width).trimEnd().split('\n'),
  ])
}

const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines]

const paragraphs = (words: string, width: number): readonly string[] =>
  words.split('\n').flatMap(line => wrap(line, width))

/** Returns the synopsis of a command. */
export function usage(command: Command, commands: readonly Command[]): string {
  const isParent = commandsBelow(commands, command.name).length > 0
  return ['devctl', command.name, '[options]', ...(isParent ? ['[command]'] : []), ...words(command)].join(' ')
}

const words = ({ words = [] }: Command): readonly string[] => words.map(({ name }) => name)

const wordRow = ({ name, description, choices }: Argument): readonly [string, string] => [
  name.replace(/[[\]<>.]/g, ''),
  choices ? `${description}: ${choices.join(', ')}` : description,
]

const optionRow = (option: Option<unknown>): readonly [string, string] => [flagsText(option), descriptionText(option)]

const shortRow = (option: Option<unknown>): readonly [string, string] => [flagsText(option), shortText(option)]

const below = (command: Command, commands: readonly Command[], width: number): readonly string[] =>
  columns(
    commandsBelow(commands, command.name).map(one => [[lastWord(one), ...words(one)].join(' '), one.summary] as const),
    width,
  )

/** Returns the lines of an example: one line if the command and its explanation fit into `width`, otherwise two. */
function example({ line, does }: { readonly line: string; readonly does: string }, width: number): readonly string[] {
  const short = `  ${line}  # ${does}`
  return short.length <= width ? [short] : [`  # ${does}`, `  ${line}`]
}
