import { command } from '../command.ts'
import { loading } from '../options/project.ts'
import { target } from '../options/target.ts'

export const exec = command({
  name: 'exec',
  group: 'Develop',
  summary: 'Run a command in a development container',
  description: `Runs a command in the container of an active development container, with a terminal if this is one. The exit status is that of the command.`,
  words: [
    {
      name: '[devName]',
      description: 'development container (default: the active one, or the one you choose)',
      completes: 'development',
    },
    { name: '[command...]', description: 'command and its arguments, after `--`' },
  ],
  options: { ...loading, ...target },
  examples: [
    { line: 'devctl exec -- npm test', does: 'run the tests in the container' },
    { line: 'devctl exec api -- sh', does: 'open a shell in that of `api`' },
  ],
  async run(context, words, options) {
    const { execute } = await import('../run/develop/exec.ts')
    return execute(context, words, options)
  },
})
