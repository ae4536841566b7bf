import { relative, resolve, sep } from 'node:path'
import type { OperationEvent } from '../../api/events.ts'
import type { Diagnostic, Severity } from '../../compiler/diagnostics/diagnostic.ts'
import { renderAnnotations } from '../../compiler/diagnostics/render/github.ts'
import { renderGroups } from '../../compiler/diagnostics/render/grouped.ts'
import { shortened } from '../../compiler/diagnostics/render/shorten.ts'
import { plural } from '../../compiler/diagnostics/render/summary.ts'
import { leadsOut } from '../../compiler/values/leads-out.ts'
import { printableLines } from '../../compiler/values/printable.ts'
import type { Context, LogLevel } from '../command.ts'
import { type Io, wantsColour } from './io.ts'

const SHOWN: Readonly<Record<LogLevel, readonly Severity[]>> = {
  debug: ['error', 'warning', 'info'],
  info: ['error', 'warning', 'info'],
  warn: ['error', 'warning'],
  error: ['error'],
}

/**
 * Prints the diagnostics that the log level includes to standard error, grouped by code. Diagnostics in `seen` are only
 * counted. In a GitHub workflow, also writes an annotation for each.
 */
export function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  io: Io,
  logLevel: LogLevel,
  seen: ReadonlySet<Diagnostic> = new Set(),
): void {
  const wanted = diagnostics.filter(({ severity }) => SHOWN[logLevel].includes(severity))
  const short = (some: readonly Diagnostic[]) => some.map(one => shortened(one, text => io.secrets?.mask(text) ?? text))
  const fresh = short(wanted.filter(one => !seen.has(one)))
  io.stderr.write(renderGroups(fresh, { colour: wantsColour(io.stderr, io.env), width: io.stderr.columns }))
  const left = wanted.filter(one => one.severity === 'warning' && seen.has(one)).length
  if (left > 0)
    io.stderr.write(
      `${plural(left, 'warning')} unchanged since the last deploy; \`devctl deploy --all-warnings\` prints all\n`,
    )
  if (io.env.GITHUB_ACTIONS) io.stderr.write(renderAnnotations(short(wanted), repositoryPath(io)))
}

/** Prints a line about a successful run, unless the log level is `error`. */
export function printSummary(text: string, io: Io, logLevel: LogLevel): void {
  if (logLevel !== 'error') io.stderr.write(`${text}\n`)
}

/**
 * Returns a function that turns the paths in diagnostics, which are relative to the working directory, into paths
 * relative to the root of the repository of a GitHub workflow.
 */
export function repositoryPath(io: Io): (path: string) => string {
  const root = io.env.GITHUB_WORKSPACE
  return path => {
    if (!root) return path
    const fromRoot = relative(root, resolve(io.cwd, path))
    return leadsOut(fromRoot) ? path : fromRoot.split(sep).join('/')
  }
}

/** Returns a handler that prints the diagnostics and warnings of an operation, and ignores all other events. */
export const printsDiagnostics =
  ({ io, logLevel }: Pick<Context, 'io' | 'logLevel'>) =>
  (event: OperationEvent): void => {
    if (event.type === 'diagnostics') printDiagnostics(event.diagnostics, io, logLevel)
    else if (event.type === 'warning') printWarning(event, io, logLevel)
  }

/** A warning that has no position in a file. */
interface Warning {
  readonly text: string
  readonly notes?: readonly string[] | undefined
  readonly hint?: string | undefined
}

/** Prints a warning that has no position in a file, unless the log level is `error`. */
export function printWarning(warning: Warning, io: Io, logLevel: LogLevel): void {
  if (logLevel !== 'error') io.stderr.write(warningText(warning))
}

/** Returns the lines of a warning that has no position in a file. */
const warningText = ({ text, notes = [], hint }: Warning): string => {
  const lines = [...notes.map(one => `note: ${one}`), ...(hint === undefined ? [] : [`help: ${hint}`])]
  return `warning: ${printableLines(text)}\n${lines.map(one => `  = ${printableLines(one)}\n`).join('')}`
}
