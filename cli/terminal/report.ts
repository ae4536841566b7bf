import { relative, resolve, sep } from 'node:path'
import type { Diagnostic, Severity } from '../../compiler/diagnostics/diagnostic.ts'
import { renderAnnotations } from '../../compiler/diagnostics/render/github.ts'
import { shortened } from '../../compiler/diagnostics/render/shorten.ts'
import { selectShown } from '../../compiler/diagnostics/render/summary.ts'
import { renderDiagnostics } from '../../compiler/diagnostics/render/text.ts'
import type { OperationEvent } from '../../operations/events.ts'
import type { Context, LogLevel } from '../command.ts'
import { type Io, wantsColour } from './io.ts'

const SHOWN: Readonly<Record<LogLevel, readonly Severity[]>> = {
  debug: ['error', 'warning', 'info'],
  info: ['error', 'warning', 'info'],
  warn: ['error', 'warning'],
  error: ['error'],
}

/** Prints diagnostics to standard error as far as the log level wants them, at most fifty; in a GitHub workflow with annotations for its pages. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], io: Io, logLevel: LogLevel): void {
  const wanted = diagnostics.filter(({ severity }) => SHOWN[logLevel].includes(severity))
  const { shown: selected, rest } = selectShown(wanted)
  const shown = selected.map(one => shortened(one, text => io.secrets?.mask(text) ?? text))
  io.stderr.write(renderDiagnostics(shown, { colour: wantsColour(io.stderr, io.env), width: io.stderr.columns }))
  if (rest) io.stderr.write(`${rest}\n`)
  if (io.env.GITHUB_ACTIONS) io.stderr.write(renderAnnotations(shown, repositoryPath(io)))
}

/** Prints the last line of a run that went well: not wanted by those who only want errors. */
export function printSummary(text: string, io: Io, logLevel: LogLevel): void {
  if (logLevel !== 'error') io.stderr.write(`${text}\n`)
}

/** Turns paths as diagnostics show them (from the folder devctl runs in) into paths from the root of the repository that a GitHub workflow works on. */
export function repositoryPath(io: Io): (path: string) => string {
  const root = io.env.GITHUB_WORKSPACE
  return path => {
    if (!root) return path
    const fromRoot = relative(root, resolve(io.cwd, path))
    return fromRoot.startsWith('..') ? path : fromRoot.split(sep).join('/')
  }
}

/** Prints the diagnostics and warnings among the events of an operation that tells nothing else. */
export const printsDiagnostics =
  ({ io, logLevel }: Pick<Context, 'io' | 'logLevel'>) =>
  (event: OperationEvent): void => {
    if (event.type === 'diagnostics') printDiagnostics(event.diagnostics, io, logLevel)
    else if (event.type === 'warning') io.stderr.write(warningText(event))
  }

/** The lines of a warning that is about no place in a file. */
export const warningText = ({
  text,
  notes = [],
  hint,
}: {
  readonly text: string
  readonly notes?: readonly string[] | undefined
  readonly hint?: string | undefined
}): string => {
  const lines = [...notes.map(one => `note: ${one}`), ...(hint === undefined ? [] : [`help: ${hint}`])]
  return `warning: ${text}\n${lines.map(one => `  = ${one}\n`).join('')}`
}
