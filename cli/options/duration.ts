import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { longFlag, type Option } from './option.ts'

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/**
 * Returns an option whose value is a duration in Go's notation, `1h2m3s`; a unit is required. The parsed value is in
 * milliseconds.
 */
export function duration(flags: string, description: string): Option<number | undefined> {
  const name = longFlag(flags)
  return { flags, description, parse: value => parseDuration(value, name) }
}

/**
 * Parses a duration such as `1h2m3s` into milliseconds. Throws a UsageError that names `option` if the value is not a
 * duration.
 */
export function parseDuration(value: string, option: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(value)) {
    const hint = /^\d+$/.test(value)
      ? `add a unit: \`${value}s\``
      : 'write numbers with units, such as `90s` or `2m30s`'
    throw new UsageError(`\`${option}\` is \`${value}\`, which is not a valid duration`, { hint })
  }
  let total = 0
  for (const [, number, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g))
    total += Number(number) * MILLISECONDS[unit!]!
  // Timers take whole milliseconds, and 1.1 h are 3960000.0000000005.
  return Math.round(total)
}
