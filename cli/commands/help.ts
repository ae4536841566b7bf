import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { command } from '../command.ts'

export const help = command({
  name: 'help',
  group: 'Settings',
  summary: 'Print the full help of devctl or of a command',
  description:
    'Prints all commands and the common options, or the full help of a command: its description, all options and all examples. `devctl COMMAND --help` prints the help that fits on a screen. `devctl help options` prints the options that many commands have.',
  words: [{ name: '[command...]', description: 'name of the command, or `options`', completes: 'command' }],
  options: {},
  async run({ io, commands }, words) {
    const { everything, fullHelp, optionsHelp, WIDTH } = await import('../help/help.ts')
    const width = Math.min(io.stdout.columns ?? WIDTH, WIDTH)
    const name = words.join(' ')
    const found = commands.find(one => one.name === name)
    if (found) io.stdout.write(fullHelp(found, commands, width))
    else if (name === '') io.stdout.write(everything(commands, width))
    else if (name === 'options') io.stdout.write(optionsHelp(commands, width))
    else throw await unknown(name, [...commands.map(one => one.name), 'options'])
    return 0
  },
})

async function unknown(name: string, names: readonly string[]): Promise<UsageError> {
  const [{ didYouMean }, { insteadOf }] = await Promise.all([
    import('../../compiler/diagnostics/suggest.ts'),
    import('../command-hints.ts'),
  ])
  return new UsageError(`unknown command \`${name}\``, {
    hint: insteadOf(name) ?? didYouMean(name, names) ?? `the commands are ${names.map(one => `\`${one}\``).join(', ')}`,
  })
}
