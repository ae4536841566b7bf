import { version } from '../../project/version.ts'
import { command } from '../command.ts'
import { output } from '../options/output.ts'

export const versionCommand = command({
  name: 'version',
  group: 'Settings',
  summary: 'Print the version of devctl',
  options: { output: output('text', 'json') },
  async run({ io }, _words, { output }) {
    io.stdout.write(
      output === 'json' ? `${JSON.stringify({ version: version() }, null, 2)}\n` : `devctl ${version()}\n`,
    )
    return 0
  },
})
