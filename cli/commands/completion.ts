import { command } from '../command.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completion = command({
  name: 'completion',
  group: 'Settings',
  summary: 'Print the shell completion script',
  words: [{ name: '<shell>', description: 'name of the shell', choices: SHELLS }],
  options: {},
  examples: [
    {
      line: 'source <(devctl completion bash)',
      does: 'load it in this shell; add the line to ~/.bashrc to load it in every shell',
    },
    { line: 'devctl completion zsh > ~/.zfunc/_devctl', does: 'install it for zsh, in a folder of your fpath' },
    { line: 'devctl completion fish > ~/.config/fish/completions/devctl.fish', does: 'install it for fish' },
  ],
  async run({ io, commands }, [shell]) {
    const { bashScript, fishScript, zshScript } = await import('../completion-scripts.ts')
    const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }
    // The parser has already rejected all other values.
    io.stdout.write(scripts[shell as (typeof SHELLS)[number]](commands))
    return 0
  },
})
