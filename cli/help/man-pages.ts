import { type Command, commandsBelow, GROUPS } from '../command.ts'
import { globalOptions } from '../options/global.ts'
import { COMMON_GROUPS, longFlag, type Option } from '../options/option.ts'
import { DESCRIPTION, GROUP_NAMES, HELP, usage } from './help.ts'
import { descriptionText, flagsText } from './option-text.ts'

/** Returns the manual pages by file name: `devctl.1`, and one for each top-level command with its subcommands. */
export function manPages(commands: readonly Command[], version: string): ReadonlyMap<string, string> {
  const top = commandsBelow(commands)
  return new Map([
    ['devctl.1', programPage(commands, version)],
    ...top.map(one => [`devctl-${one.name}.1`, commandPage(one, commands, version)] as const),
  ])
}

/** Escapes a text for roff, on one line. Text in backticks becomes bold. */
export function roff(text: string): string {
  const parts = text.split('`')
  // An unpaired backtick is a character.
  const isPaired = parts.length % 2 === 1
  const line = isPaired
    ? parts.map((part, index) => (index % 2 === 1 ? `\\fB${escaped(part)}\\fR` : escaped(part))).join('')
    : escaped(text)
  // A line that starts with one of these characters would be a request.
  return line.replace(/^(?=[.'])/, '\\&')
}

function escaped(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('"', '\\(dq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(/[^\x20-\x7e]/gu, one => `\\[u${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`)
}

function programPage(commands: readonly Command[], version: string): string {
  const byGroup = GROUPS.flatMap(group => [
    `.SS ${group}`,
    ...commandsBelow(commands)
      .filter(one => one.group === group)
      .flatMap(one => ['.TP', `\\fBdevctl\\-${escaped(one.name)}\\fR(1)`, roff(`${one.summary}.`)]),
  ])
  const options = commands.flatMap(one => Object.values(one.options))
  const common = COMMON_GROUPS.flatMap(group => {
    const found = new Map<string, Option<unknown>>()
    for (const one of options) if (one.common === group) found.set(longFlag(one.flags), one)
    return [`.SS ${GROUP_NAMES[group]} options`, ...[...found.values(), ...always(group)].flatMap(optionLines)]
  })
  return page('devctl', 'deploy Compose files to Kubernetes, and develop there', version, [
    '.SH SYNOPSIS',
    '\\fBdevctl\\fR [options] <command> [parameters]',
    '.SH DESCRIPTION',
    ...DESCRIPTION.flatMap(text => ['.PP', roff(text)]),
    '.SH COMMANDS',
    ...byGroup,
    '.SH OPTIONS',
    'Options of many commands. The page of a command says which ones it has.',
    ...common,
    '.SH FILES',
    '.TP',
    '\\fI\\(ti/.devctl\\fR',
    roff('Contexts, logins and sessions, unless `DEVCTL_HOME`, `XDG_CONFIG_HOME` or `XDG_STATE_HOME` is set.'),
  ])
}

function commandPage(command: Command, commands: readonly Command[], version: string): string {
  const below = commandsBelow(commands, command.name)
  const summary = `${command.summary.charAt(0).toLowerCase()}${command.summary.slice(1)}`
  return page(`devctl-${command.name}`, summary, version, [
    '.SH SYNOPSIS',
    ...[command, ...below].flatMap((one, index) => [...(index > 0 ? ['.br'] : []), roff(usage(one, commands))]),
    '.SH DESCRIPTION',
    ...descriptionLines(command),
    ...argumentsAndOptions(command, '.SH'),
    ...exampleLines(command, '.SH EXAMPLES'),
    ...(below.length > 0 ? ['.SH COMMANDS'] : []),
    ...below.flatMap(one => [
      `.SS devctl ${escaped(one.name)}`,
      ...descriptionLines(one),
      ...argumentsAndOptions(one, '.PP'),
      ...exampleLines(one, '.PP\nExamples:'),
    ]),
    '.SH SEE ALSO',
    '\\fBdevctl\\fR(1)',
  ])
}

function page(name: string, summary: string, version: string, lines: readonly string[]): string {
  const title = `.TH ${escaped(name.toUpperCase())} 1 "" "devctl ${escaped(version)}" "devctl manual"`
  return `${[title, '.SH NAME', `${escaped(name)} \\- ${roff(summary)}`, ...lines].join('\n')}\n`
}

const descriptionLines = ({ description, summary }: Command): readonly string[] =>
  (description ?? `${summary}.`).split(/\n+/).flatMap(text => ['.PP', roff(text)])

/** Returns the roff lines for the arguments and options of a command. `macro` is the macro for the headings. */
function argumentsAndOptions(command: Command, macro: '.SH' | '.PP'): readonly string[] {
  const heading = (title: string) => (macro === '.SH' ? `.SH ${title.toUpperCase()}` : `.PP\n${title}:`)
  const words = (command.words ?? []).flatMap(({ name, description, choices }) => [
    '.TP',
    `\\fI${escaped(name)}\\fR`,
    roff(choices ? `${description}: ${choices.join(', ')}` : description),
  ])
  const options = [...Object.values(command.options), ...always('output')]
  return [
    ...(words.length > 0 ? [heading('Arguments'), ...words] : []),
    heading('Options'),
    ...options.flatMap(optionLines),
  ]
}

const always = (group: string): readonly Option<unknown>[] =>
  group === 'output' ? [...Object.values(globalOptions), HELP] : []

const optionLines = (option: Option<unknown>): readonly string[] => [
  '.TP',
  `\\fB${escaped(flagsText(option))}\\fR`,
  roff(descriptionText(option)),
]

const exampleLines = ({ examples = [] }: Command, heading: string): readonly string[] =>
  examples.length === 0
    ? []
    : [heading, ...examples.flatMap(({ line, does }) => ['.TP', roff(does), `\\fB${escaped(line)}\\fR`])]
