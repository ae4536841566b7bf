import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { command, STREAM_FLAGS } from '../command.ts'
import { type Option, text, type Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

/** Option for the number of a Pod, from 1. */
export const podIndex: Option<number | undefined> = {
  flags: '--index <number>',
  description: 'number of the Pod, if the service has several (default: any that is ready)',
  parse(value) {
    if (/^[1-9]\d{0,5}$/.test(value)) return Number(value)
    throw new UsageError(`\`--index\` is \`${value}\``, { hint: 'use a number from 1' })
  },
}

const options = {
  ...loading,
  name: environmentName,
  ...target,
  service: text('-s, --service <service>', 'run the command in a container of this deployed service', {
    completes: 'service',
  }),
  index: podIndex,
  container: text('--container <name>', 'container of the Pod (default: that of the service)'),
}

/** Options of `exec`. */
export type ExecValues = Values<typeof options>

export const exec = command({
  name: 'exec',
  group: 'Develop',
  summary: 'Run a command in a development container or a service',
  description: `Runs a command in the container of an active development container, or with --service in that of a deployed service, with a terminal if this is one. The exit status is that of the command.`,
  words: [
    {
      name: '[devName]',
      description: 'development container (default: the active one, or the one you choose)',
      completes: 'development',
    },
    { name: '[command...]', description: 'command and its arguments, after `--`' },
  ],
  options,
  accepts: STREAM_FLAGS,
  examples: [
    { line: 'devctl exec -- npm test', does: 'run the tests in the container' },
    { line: 'devctl exec api -- sh', does: 'open a shell in that of `api`' },
    { line: 'devctl exec --service db -- psql', does: 'run a program of the deployed service `db`' },
  ],
  async run(context, words, options) {
    const { execute } = await import('../run/develop/exec.ts')
    return execute(context, words, options)
  },
})
