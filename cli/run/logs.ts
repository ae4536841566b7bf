import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { type LogsInput, type LogsOutcome, logs } from '../../operations/logs/logs.ts'
import { openProject, targetOf } from '../../project/open-project.ts'
import type { Context } from '../command.ts'
import type { LogValues } from '../commands/logs.ts'
import { wantsColour } from '../terminal/io.ts'
import { LogPrinter } from '../terminal/log-printer.ts'
import { toTerminal } from '../terminal/operation-events.ts'
import { NO_PROGRESS } from '../terminal/progress/events.ts'
import { withCluster } from './cluster-session.ts'
import { untilOutputCloses } from './until-output-closes.ts'

/** Default of `--since` in milliseconds: 48 hours, the limit in devctl's specification. */
const SINCE = 48 * 3_600_000

/**
 * Prints the logs of the services whose names match a pattern, in one environment, until Ctrl-C or until the reader
 * closes the output.
 */
export async function showLogsOf(context: Context, pattern: string | undefined, options: LogValues): Promise<number> {
  const { io, logLevel } = context
  if (pattern !== undefined) refuseFile(pattern, io.cwd)
  const services = pattern === undefined ? undefined : parsePattern(pattern, 'the name of the service')
  const exclude = options.exclude === undefined ? undefined : parsePattern(options.exclude, '`--exclude`')
  const input: LogsInput = {
    ...options,
    services,
    exclude,
    tail: Number.isFinite(options.tail) ? options.tail : undefined,
    since: options.since ?? SINCE,
    follow: options.follow ?? true,
  }
  const project = await openProject(io, options)
  const target = targetOf(project, options)
  return withCluster(io, { ...options, ...target, logLevel, timeout: undefined, isEndless: true }, opened =>
    untilOutputCloses(opened, async (session, closed) => {
      const { signal } = session
      const printer = new LogPrinter(io.stdout, {
        colour: wantsColour(io.stdout, io.env),
        timestamps: options.timestamps,
        signal,
        closed,
      })
      const world = {
        workspace: io,
        session,
        on: toTerminal(context, NO_PROGRESS, 'text'),
        print: printer.print.bind(printer),
        found: printer.expect.bind(printer),
      }
      try {
        const outcome = await logs(world, input, project)
        await printer.end()
        if (outcome.kind === 'no-match') throw noMatch(outcome, pattern!)
        if (outcome.kind === 'not-deployed' && logLevel !== 'error')
          io.stderr.write(`${outcome.environment} is not deployed in ${outcome.namespace}\n`)
        return 0
      } catch (error) {
        if (!signal.aborted) await printer.end()
        throw error
      }
    }),
  )
}

function noMatch(
  { environment, namespace, known }: Extract<LogsOutcome, { readonly kind: 'no-match' }>,
  pattern: string,
): UserError {
  const whose = environment === undefined ? namespace : `${environment} in ${namespace}`
  return new UserError(`no service of ${whose} matches \`${pattern}\``, {
    hint: didYouMean(pattern, known) ?? `there are ${known.map(name => `\`${name}\``).join(', ')}`,
  })
}

/** Throws a UsageError for `logs -f compose.yaml`: in other devctl commands, `-f` names a file. */
function refuseFile(pattern: string, cwd: string): void {
  if (/\.ya?ml$/.test(pattern) && existsSync(resolve(cwd, pattern)))
    throw new UsageError(`\`${pattern}\` is a file, not a service: for \`logs\`, \`-f\` means \`--follow\``, {
      hint: `use \`devctl logs --file ${pattern}\``,
    })
}

/**
 * Parses a regular expression for service names. It may match any part of a name, so a prefix of a name matches, too.
 * Go's `(?i)` at the start ignores case. Throws a UsageError that names the option or field `where` if the expression
 * is invalid.
 */
export function parsePattern(text: string, where: string): RegExp {
  const isInsensitive = text.startsWith('(?i)')
  try {
    return new RegExp(isInsensitive ? text.slice(4) : text, isInsensitive ? 'i' : '')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^.*\/i?: /, '') : ''
    throw new UsageError(`${where} is \`${text}\`, which is not a valid regular expression: ${reason.toLowerCase()}`, {
      hint: 'write `\\` before a character that stands for itself, such as `\\.` or `\\[`',
      cause,
    })
  }
}
