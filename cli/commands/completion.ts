import { command } from '../command.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completion = command({
  name: 'completion',
  summary: 'Print the script that completes devctl in a shell',
  words: [{ name: '<shell>', description: 'the shell', choices: SHELLS }],
  options: {},
  examples: [
    { line: 'source <(devctl completion bash)', does: 'for this shell; put the line into ~/.bashrc for all' },
    { line: 'devctl completion zsh > ~/.zfunc/_devctl', does: 'in a folder of your fpath' },
    { line: 'devctl completion fish > ~/.config/fish/completions/devctl.fish', does: 'for fish' },
  ],
  async run({ io, commands }, [shell]) {
    const { bashScript, fishScript, zshScript } = await import('../completion-scripts.ts')
    const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }
    // The parser has refused all other words.
    io.stdout.write(scripts[shell as (typeof SHELLS)[number]](commands))
    return 0
  },
})
