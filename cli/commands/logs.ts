import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { command } from '../command.ts'
import { duration } from '../options/duration.ts'
import { flag, type Option, text } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

/** Milliseconds; the specification's limit. */
const SINCE = 48 * 3_600_000
const TAIL = 100

/** `all` and `-1` are no limit: infinity, since commander makes a text of undefined. */
const lines: Option<number> = {
  flags: '--tail <lines>',
  description: 'lines from the end of each log, or `all`',
  default: TAIL,
  parse(value) {
    if (value === 'all' || value === '-1') return Number.POSITIVE_INFINITY
    if (/^\d{1,9}$/.test(value)) return Number(value)
    throw new UsageError(`\`--tail\` is \`${value}\``, { hint: 'use a number of lines, or `all`' })
  },
}

/** `-f` follows, as with all other programs that print logs; so files are named by `--file` alone. */
const { file, ...others } = loading
const fileByName = { ...file, flags: file.flags.replace('-f, ', '') }

/** The two are one to commander, which gives undefined where neither is used. */
const follow: Option<boolean | undefined> = {
  flags: '-f, --follow',
  description: 'go on with what is written (default)',
}
const unfollow: Option<undefined> = { flags: '--no-follow', description: 'end when all that was written is printed' }

export const logs = command({
  name: 'logs',
  summary: 'Print the logs of services, and follow them',
  description: `Prints what the containers of the environment have written, in the order of its times, and goes on with what they write until Ctrl-C: over restarts, and from Pods that come later. Each line stands behind the name of its service and the last part of the name of its Pod.

The pattern is a regular expression that is found anywhere in the name of a service: \`api\` also shows \`api-worker\`, \`^api$\` does not. Services with \`attach: false\` are shown only when a pattern names them.`,
  words: [
    { name: '[service]', description: 'regular expression for names of services (default: all)', completes: 'service' },
  ],
  options: {
    file: fileByName,
    ...others,
    name: environmentName,
    ...target,
    all: flag('--all', 'the logs of the whole namespace, whatever environment or tool it is of'),
    exclude: text('--exclude <pattern>', 'leave out services whose names match this regular expression'),
    since: duration('--since <duration>', 'lines newer than this, such as 5s, 2m or 3h; 0s: all (default: 48h0m0s)'),
    tail: lines,
    timestamps: flag('--timestamps', 'print when each line was written'),
    follow,
    noFollow: unfollow,
  },
  examples: [
    { line: 'devctl logs', does: 'all services of this folder' },
    { line: "devctl logs 'api|worker' --since 10m --timestamps", does: 'two services, the last ten minutes' },
    { line: 'devctl logs --no-follow --tail all > logs.txt', does: 'everything there is, into a file' },
  ],
  async run(context, [pattern], options) {
    const { showLogsOf } = await import('../run/logs.ts')
    const tail = Number.isFinite(options.tail) ? options.tail : undefined
    return showLogsOf(context, pattern, {
      ...options,
      tail,
      since: options.since ?? SINCE,
      follow: options.follow ?? true,
    })
  },
})
