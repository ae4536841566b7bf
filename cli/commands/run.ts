import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { command, STREAM_FLAGS } from '../command.ts'
import { flag, type Option, type Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target, waitTimeout } from '../options/target.ts'

/**
 * `--env NAME=VALUE`, repeatable. If only a name is given, the value is taken from the shell. Messages do not show
 * values.
 */
const env: Option<readonly string[] | undefined> = {
  flags: '-e, --env <name=value>',
  description: 'set a variable of the container; a name alone takes the value of the shell; may be repeated',
  isRepeatable: true,
  parse(value, previous) {
    if (!/^[A-Za-z_][\w.-]*(?:=|$)/.test(value))
      throw new UsageError('`--env` is not a variable', { hint: 'write it as `NAME=VALUE`' })
    return [...(previous ?? []), value]
  },
}

const options = {
  ...loading,
  name: environmentName,
  ...target,
  env,
  detach: flag('-d, --detach', 'print the name of the run, and do not follow it'),
  tty: { flags: '-T, --no-tty', description: 'no terminal, even if this is one' } as Option<boolean | undefined>,
  rm: flag('--rm', 'delete the run with its log when it has ended'),
  deps: { flags: '--no-deps', description: 'start without waiting for dependencies' } as Option<boolean | undefined>,
  timeout: waitTimeout,
}

/** Options of `run`. */
export type RunValues = Values<typeof options>

export const run = command({
  name: 'run',
  group: 'Deploy',
  summary: 'Run a job, or a command in the container of a service, once',
  description: `Starts one run of a deployed job or service, prints its output, and exits with its exit status. The run has the image, variables, secrets, volumes and waits of the deployed container, but no ports and no healthcheck. The command replaces \`command\` of the file, and keeps \`entrypoint\`. It has a terminal if this is one, and otherwise standard input. Its output is not masked, and its errors are part of the same stream: \`2>\` does not separate them.

Without a terminal, Ctrl-C ends and deletes the run; with one, the program gets it, and the third without any effect ends the run. A run that has ended keeps its log: the run of a service for a day, and of a job the last three. --timeout is for its start.`,
  words: [
    { name: '<service>', description: 'job or service', completes: 'service' },
    { name: '[command...]', description: 'command and its arguments, after `--`' },
  ],
  options,
  accepts: STREAM_FLAGS,
  examples: [
    { line: 'devctl run backup', does: 'run a job now, whatever its schedule' },
    { line: 'devctl run --rm -e DRY_RUN=1 api -- ./migrate --check', does: 'run another command of a service' },
    { line: 'gzip -dc dump.gz | devctl run --rm db -- psql', does: 'pass standard input to a command' },
  ],
  async run(context, words, options) {
    const { runOnce } = await import('../run/run.ts')
    return runOnce(context, words, options)
  },
})
