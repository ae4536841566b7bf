import { type Command, LOG_LEVELS, type Word } from './command.ts'
import type { Option } from './options.ts'

const GLOBAL: readonly Option<unknown>[] = [
  { flags: '--loglevel <level>', description: 'how much to print', choices: LOG_LEVELS },
  { flags: '-h, --help', description: 'print help' },
]
const VERSION: Option<unknown> = { flags: '--version', description: 'print the version' }

/** The services of the files that devctl finds by itself. */
const SERVICES = 'devctl config --services 2>/dev/null'

/** Completion for bash 4.2 and later. */
export function bashScript(commands: readonly Command[]): string {
  const valueCases = commands.flatMap(command =>
    [...Object.values(command.options), ...GLOBAL].filter(takesValue).map(
      option =>
        `    ${flagsOf(option)
          .map(one => `${command.name}:${one}`)
          .join('|')}) ${bashValue(option)} return ;;\n`,
    ),
  )
  const wordCases = commands.map(command => {
    const words = [...Object.values(command.options), ...GLOBAL].flatMap(flagsOf)
    const named =
      command.words?.flatMap(word => word.choices ?? (word.completes === 'command' ? names(commands) : [])) ?? []
    const services = command.words?.some(word => word.completes === 'service') ? ` $(${SERVICES})` : ''
    return `    ${command.name}) words="${[...named, ...words].join(' ')}${services}" ;;\n`
  })
  const first = [...names(commands), ...[VERSION, ...GLOBAL].flatMap(flagsOf)].join(' ')
  return `# Completion of devctl for bash: source <(devctl completion bash)
_devctl() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${names(commands).join('|')}) command=\${COMP_WORDS[i]}; break ;;
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
  const kind = completes === 'file' ? '-f' : '-d'
  return `compopt -o filenames; COMPREPLY=($(compgen ${kind} -- "$cur"));`
}

/** Completion for zsh, as a function file of the fpath. */
export function zshScript(commands: readonly Command[]): string {
  const described = commands.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}\n`).join('')
  const cases = commands.map(command => {
    const options = [...Object.values(command.options), ...GLOBAL].map(option => ` \\\n          ${zshOption(option)}`)
    const words = (command.words ?? []).map(word => ` \\\n          ${quote(zshWord(word, commands))}`)
    return `        ${command.name})\n          _arguments -s${options.join('')}${words.join('')} ;;\n`
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
      case $line[1] in
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
    : option.completes === 'file'
      ? '_files'
      : option.completes
        ? '_files -/'
        : ' '
  const value = takesValue(option) ? `:value:${action}` : ''
  return flags.length > 1 ? `'*'{${flags.join(',')}}${quote(text + value)}` : quote(`*${flags[0]}${text}${value}`)
}

function zshWord({ name, description, choices, completes }: Word, commands: readonly Command[]): string {
  const text = description.replaceAll(':', ' ')
  const words = choices ?? (completes === 'command' ? names(commands) : undefined)
  const action = words ? `(${words.join(' ')})` : completes === 'service' ? `{compadd -- $(${SERVICES})}` : ' '
  return `${name.includes('...') ? '*' : '1'}:${text}:${action}`
}

/** Completion for fish. */
export function fishScript(commands: readonly Command[]): string {
  const lines = [
    '# Completion of devctl for fish: devctl completion fish > ~/.config/fish/completions/devctl.fish',
    'complete -c devctl -f',
  ]
  for (const option of [VERSION, ...GLOBAL]) lines.push(`complete -c devctl ${fishOption(option)}`)
  for (const { name, summary } of commands) {
    lines.push(`complete -c devctl -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`)
  }
  for (const command of commands) {
    const condition = `complete -c devctl -n '__fish_seen_subcommand_from ${command.name}'`
    for (const option of Object.values(command.options)) lines.push(`${condition} ${fishOption(option)}`)
    for (const word of command.words ?? []) {
      const words = word.choices ?? (word.completes === 'command' ? names(commands) : undefined)
      if (words) lines.push(`${condition} -a ${quote(words.join(' '))}`)
      else if (word.completes === 'service') lines.push(`${condition} -a ${quote(`(${SERVICES})`)}`)
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
      : option.completes
        ? ' -r -F'
        : ' -x'
  return `${flags.join(' ')}${value} -d ${quote(option.description)}`
}

const names = (commands: readonly Command[]) => commands.map(({ name }) => name)

const flagsOf = ({ flags }: Option<unknown>) => flags.match(/(?<![\w-])--?[a-z][a-z-]*/g) ?? []

const takesValue = ({ flags }: Option<unknown>) => flags.includes('<')

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
