import { version } from '../../project/version.ts'
import { command } from '../command.ts'

export const versionCommand = command({
  name: 'version',
  summary: 'Print the version of devctl',
  options: {},
  async run({ io }) {
    io.stdout.write(`devctl ${version()}\n`)
    return 0
  },
})
