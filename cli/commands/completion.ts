import { command } from '../command.ts'
import type { Shell } from '../complete/scripts.ts'

const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish', 'powershell']

export const completion = command({
  name: 'completion',
  group: 'Settings',
  summary: 'Print the shell completion script',
  description: `Prints the completion script of a shell. The script asks devctl itself for the commands, options and values that fit the line, so it stays valid after an update of devctl. Values are those of this folder and this machine, such as services, environments, contexts and branches; names in the cluster are only offered if it answers within a second.

To install it for zsh, the folder of the script must be in \`fpath\` before \`compinit\` is called: add \`fpath+=~/.zfunc\` to ~/.zshrc.`,
  words: [{ name: '<shell>', description: 'name of the shell', choices: SHELLS }],
  options: {},
  examples: [
    {
      line: 'eval "$(devctl completion bash)"',
      does: 'load it in this shell; add the line to ~/.bashrc to load it in every shell',
    },
    { line: 'devctl completion zsh > ~/.zfunc/_devctl', does: 'install it for zsh, in a folder of your fpath' },
    { line: 'devctl completion fish > ~/.config/fish/completions/devctl.fish', does: 'install it for fish' },
    {
      line: 'devctl completion powershell | Out-String | Invoke-Expression',
      does: 'load it in PowerShell; add the line to $PROFILE to load it in every session',
    },
  ],
  async run({ io }, [shell]) {
    const { SCRIPTS } = await import('../complete/scripts.ts')
    // The parser has already rejected all other values.
    io.stdout.write(SCRIPTS[shell as Shell])
    return 0
  },
})
