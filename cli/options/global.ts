import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { LOG_LEVELS, type LogLevel } from '../log-level.ts'
import { aliased, choice, common, flag } from './option.ts'

/** Options that every command accepts, before and after its name. */
export const globalOptions = common('output', {
  logLevel: aliased(
    choice('--log-level <level>', 'print messages of this level and above (default: warn)', LOG_LEVELS),
    '--loglevel',
  ),
  verbose: flag('-v, --verbose', 'print more: as `--log-level info`; `-vv` as `--log-level debug`'),
  quiet: flag('-q, --quiet', 'print only errors, and no results: the exit status tells whether the command succeeded'),
})

/** Values of the global options, and how often `--verbose` was given. */
export interface GlobalValues {
  readonly logLevel?: LogLevel | undefined
  readonly quiet?: boolean | undefined
  readonly verbosity: number
}

/** Returns the log level that the options choose. Throws a UsageError if they contradict each other. */
export function chosenLevel({ logLevel, quiet, verbosity }: GlobalValues): LogLevel {
  const given = [
    ...(logLevel === undefined ? [] : ['`--log-level`']),
    ...(verbosity > 0 ? ['`--verbose`'] : []),
    ...(quiet ? ['`--quiet`'] : []),
  ]
  if (given.length > 1)
    throw new UsageError(`${given[0]} and ${given[1]} cannot be combined`, { hint: 'remove one of them' })
  if (quiet) return 'error'
  if (verbosity > 0) return verbosity > 1 ? 'debug' : 'info'
  return logLevel ?? 'warn'
}
