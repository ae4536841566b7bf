import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { command } from '../command.ts'

export const help = command({
  name: 'help',
  summary: 'Print the help of devctl or of a command',
  words: [{ name: '[command...]', description: 'name of the command', completes: 'command' }],
  options: {},
  async run({ io, commands, help }, words) {
    const name = words.length > 0 ? words.join(' ') : undefined
    const text = help(name)
    if (text === undefined) {
      const [{ didYouMean }, { insteadOf }] = await Promise.all([
        import('../../compiler/diagnostics/suggest.ts'),
        import('../command-hints.ts'),
      ])
      const names = commands.map(one => one.name)
      throw new UsageError(`unknown command \`${name}\``, {
        hint:
          insteadOf(name!) ??
          didYouMean(name!, names) ??
          `the commands are ${names.map(one => `\`${one}\``).join(', ')}`,
      })
    }
    io.stdout.write(text)
    return 0
  },
})
