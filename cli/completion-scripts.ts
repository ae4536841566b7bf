import { type Argument, type Command, commandsBelow, LOG_LEVELS, lastWord } from './command.ts'
import type { Option } from './options/option.ts'

const GLOBAL: readonly Option<unknown>[] = [
  { flags: '--loglevel <level>', description: 'how much to print', choices: LOG_LEVELS },
  { flags: '-h, --help', description: 'print help' },
]
const VERSION: Option<unknown> = { flags: '--version', description: 'print the version' }

/**
 * Commands that print the possible values: the services in the files that devctl finds by default, and the contexts.
 */
const CHOICES = {
  service: 'devctl config --services 2>/dev/null',
  context: 'devctl context list --output name 2>/dev/null',
} as const

/** Returns the completion script for bash 3.2, the version of macOS, and later. */
export function bashScript(commands: readonly Command[]): string {
  const valueCases = commands.flatMap(command =>
    [...Object.values(command.options), ...GLOBAL].filter(takesValue).map(
      option =>
        `    ${flagsOf(option)
          .map(one => `${idOf(command)}:${one}`)
          .join('|')}) ${bashValue(option)} return ;;\n`,
    ),
  )
  const wordCases = commands.map(command => {
    const words = [...Object.values(command.options), ...GLOBAL].flatMap(flagsOf)
    const below = commandsBelow(commands, command.name).map(lastWord)
    const named = command.words?.flatMap(word => fixedWords(word, commands) ?? []) ?? []
    const asked = command.words?.flatMap(word => askFor(word) ?? []).map(line => ` $(${line})`) ?? []
    return `    ${idOf(command)}) words="${[...below, ...named, ...words].join(' ')}${asked.join('')}" ;;\n`
  })
  const first = [...names(commandsBelow(commands)), ...[VERSION, ...GLOBAL].flatMap(flagsOf)].join(' ')
  return `# Completion of devctl for bash: source <(devctl completion bash)
_devctl_paths() {
  local path quotes=
  # Bash 4 and later quote the path that is chosen.
  compopt -o filenames 2>/dev/null || quotes=1
  while IFS= read -r path; do
    if [ -n "$quotes" ]; then printf -v path %q "$path"; fi
    COMPREPLY+=("$path")
  done < <(compgen "$1" -- "$cur")
}
_devctl() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case $command:\${COMP_WORDS[i]} in
      ${commandsBelow(commands)
        .map(({ name }) => `:${name}`)
        .join('|')}) command=\${COMP_WORDS[i]} ;;
      ${belowPatterns(commands)}) command+=_\${COMP_WORDS[i]}; break ;;
    esac
  done
  COMPREPLY=()
  case $command:$prev in
    :--loglevel) COMPREPLY=($(compgen -W '${LOG_LEVELS.join(' ')}' -- "$cur")); return ;;
${valueCases.join('')}  esac
  case $command in
    '') words="${first}" ;;
${wordCases.join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _devctl devctl
`
}

function bashValue({ choices, completes }: Option<unknown>): string {
  if (choices) return `COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$cur"));`
  if (completes === undefined) return ''
  if (completes === 'context') return `COMPREPLY=($(compgen -W "$(${CHOICES.context})" -- "$cur"));`
  const kind = completes === 'file' ? '-f' : '-d'
  return `_devctl_paths ${kind};`
}

/** Returns the completion script for zsh, as a function file for `fpath`. */
export function zshScript(commands: readonly Command[]): string {
  const described = commandsBelow(commands)
    .map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}\n`)
    .join('')
  const cases = commands.map(command => {
    const options = [...Object.values(command.options), ...GLOBAL].map(option => ` \\\n          ${zshOption(option)}`)
    const below = commandsBelow(commands, command.name).map(lastWord)
    const words = (command.words ?? []).map(word => zshWord(word, commands))
    if (below.length > 0) words.push(`1:command:(${below.join(' ')})`)
    const lines = words.map(word => ` \\\n          ${quote(word)}`)
    return `        ${idOf(command)})\n          _arguments -s${options.join('')}${lines.join('')} ;;\n`
  })
  return `#compdef devctl
# Completion of devctl for zsh: devctl completion zsh > a folder of your fpath/_devctl
_devctl() {
  local curcontext=$curcontext state line
  local -a commands
  commands=(
${described}  )
  _arguments -C ${[VERSION, ...GLOBAL].map(zshOption).join(' ')} '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      local name=$line[1]
      case $name:$words[2] in
        ${belowPatterns(commands)})
          # What is left to complete are the words of the command below.
          if ((CURRENT > 2)); then name+=_$words[2]; shift words; ((CURRENT--)); fi ;;
      esac
      case $name in
${cases.join('')}      esac ;;
  esac
}
if [ "$funcstack[1]" = _devctl ]; then _devctl "$@"; else compdef _devctl devctl; fi
`
}

function zshOption(option: Option<unknown>): string {
  const flags = flagsOf(option)
  const text = `[${option.description.replace(/[[\]:\\]/g, '\\$&')}]`
  const action = option.choices
    ? `(${option.choices.join(' ')})`
    : { file: '_files', folder: '_files -/', context: `{compadd -- $(${CHOICES.context})}`, none: ' ' }[
        option.completes ?? 'none'
      ]
  const value = takesValue(option) ? `:value:${action}` : ''
  return flags.length > 1 ? `'*'{${flags.join(',')}}${quote(text + value)}` : quote(`*${flags[0]}${text}${value}`)
}

function zshWord(word: Argument, commands: readonly Command[]): string {
  const text = word.description.replaceAll(':', ' ')
  const words = fixedWords(word, commands)
  const asked = askFor(word)
  const action = words ? `(${words.join(' ')})` : asked ? `{compadd -- $(${asked})}` : ' '
  return `${word.name.includes('...') ? '*' : '1'}:${text}:${action}`
}

/** Returns the completion script for fish. */
export function fishScript(commands: readonly Command[]): string {
  const lines = [
    '# Completion of devctl for fish: devctl completion fish > ~/.config/fish/completions/devctl.fish',
    'complete -c devctl -f',
  ]
  for (const option of [VERSION, ...GLOBAL]) lines.push(`complete -c devctl ${fishOption(option)}`)
  for (const { name, summary } of commandsBelow(commands)) {
    lines.push(`complete -c devctl -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`)
  }
  for (const command of commands) {
    const below = commandsBelow(commands, command.name)
    const seen = command.name.split(' ').map(word => `__fish_seen_subcommand_from ${word}`)
    if (below.length > 0) seen.push(`not __fish_seen_subcommand_from ${below.map(lastWord).join(' ')}`)
    const condition = `complete -c devctl -n '${seen.join('; and ')}'`
    for (const one of below) lines.push(`${condition} -a ${lastWord(one)} -d ${quote(one.summary)}`)
    for (const option of Object.values(command.options)) lines.push(`${condition} ${fishOption(option)}`)
    for (const word of command.words ?? []) {
      const words = fixedWords(word, commands)
      const asked = askFor(word)
      if (words) lines.push(`${condition} -a ${quote(words.join(' '))}`)
      else if (asked) lines.push(`${condition} -a ${quote(`(${asked})`)}`)
    }
  }
  return `${lines.join('\n')}\n`
}

function fishOption(option: Option<unknown>): string {
  const flags = flagsOf(option).map(one => (one.startsWith('--') ? `-l ${one.slice(2)}` : `-s ${one.slice(1)}`))
  const value = !takesValue(option)
    ? ''
    : option.choices
      ? ` -x -a ${quote(option.choices.join(' '))}`
      : option.completes === 'context'
        ? ` -x -a ${quote(`(${CHOICES.context})`)}`
        : option.completes
          ? ' -r -F'
          : ' -x'
  return `${flags.join(' ')}${value} -d ${quote(option.description)}`
}

/** Returns the possible values of an argument, if they are known in advance. */
function fixedWords({ choices, completes }: Argument, commands: readonly Command[]): readonly string[] | undefined {
  return choices ?? (completes === 'command' ? names(commandsBelow(commands)) : undefined)
}

/** Returns the command that prints the possible values of an argument. */
function askFor({ completes }: Argument): string | undefined {
  return completes === 'service' || completes === 'context' ? CHOICES[completes] : undefined
}

/** Returns shell patterns for each command and its subcommand: `context:use|context:show`. */
function belowPatterns(commands: readonly Command[]): string {
  return names(commands)
    .filter(name => name.includes(' '))
    .map(name => name.replace(' ', ':'))
    .join('|')
}

/** Returns the command's name as a single shell word. */
const idOf = ({ name }: Command) => name.replace(' ', '_')

const names = (commands: readonly Command[]) => commands.map(({ name }) => name)

const flagsOf = ({ flags }: Option<unknown>) => flags.match(/(?<![\w-])--?[a-z][a-z-]*/g) ?? []

const takesValue = ({ flags }: Option<unknown>) => flags.includes('<')

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
