import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { command } from '../command.ts'
import { duration } from '../options/duration.ts'
import { flag, type Option, text, type Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

const TAIL = 100

/**
 * `--tail`: `all` and `-1` mean no limit. This is represented as infinity because commander turns undefined into a
 * string.
 */
const lines: Option<number> = {
  flags: '--tail <lines>',
  description: 'number of lines to print from the end of each log, or `all`',
  default: TAIL,
  parse(value) {
    if (value === 'all' || value === '-1') return Number.POSITIVE_INFINITY
    if (/^\d{1,9}$/.test(value)) return Number(value)
    throw new UsageError(`\`--tail\` is \`${value}\``, { hint: 'use a number of lines, or `all`' })
  },
}

/**
 * Options that select the files. `file` is separate because its short form is removed here: `-f` means follow, as in
 * all other programs that print logs.
 */
const { file, ...others } = loading
const fileByName = { ...file, flags: file.flags.replace('-f, ', '') }

/** `--follow` and `--no-follow`: commander treats them as one option, whose value is undefined if neither is used. */
const follow: Option<boolean | undefined> = {
  flags: '-f, --follow',
  description: 'keep printing new lines (default)',
}
const unfollow: Option<undefined> = { flags: '--no-follow', description: 'exit after printing the existing lines' }

const options = {
  file: fileByName,
  ...others,
  name: environmentName,
  ...target,
  all: flag('--all', 'print the logs of the whole namespace, of any environment or tool'),
  exclude: text('--exclude <pattern>', 'exclude services whose names match this regular expression', {
    completes: 'service',
  }),
  since: duration(
    '--since <duration>',
    'print lines newer than this, such as 5s, 2m or 3h; 0s prints all (default: 48h0m0s)',
  ),
  tail: lines,
  timestamps: flag('--timestamps', 'print the time of each line'),
  follow,
  noFollow: unfollow,
}

/** Options of `logs`. */
export type LogValues = Values<typeof options>

export const logs = command({
  name: 'logs',
  group: 'Deploy',
  summary: 'Print the logs of services, and follow them',
  description: `Prints the logs of the containers of the environment in chronological order, and follows them until Ctrl-C, across restarts and including Pods that are created later. Each line is prefixed with the name of its service and the last part of the name of its Pod.

The pattern is a regular expression that may match any part of a service name: \`api\` also shows \`api-worker\`, \`^api$\` does not. Of a job, the newest run is printed. Services with \`attach: false\` are shown only if a pattern matches them.`,
  words: [
    { name: '[service]', description: 'regular expression for service names (default: all)', completes: 'service' },
  ],
  options,
  examples: [
    { line: 'devctl logs', does: 'follow all services of the application in this folder' },
    {
      line: "devctl logs 'api|worker' --since 10m --timestamps",
      does: 'follow two services, starting ten minutes ago',
    },
    { line: 'devctl logs --no-follow --tail all > logs.txt', does: 'write all existing logs to a file' },
  ],
  async run(context, [pattern], options) {
    const { showLogsOf } = await import('../run/logs.ts')
    return showLogsOf(context, pattern, options)
  },
})
