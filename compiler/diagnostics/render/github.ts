import { printableLines } from '../../values/printable.ts'
import type { Diagnostic } from '../diagnostic.ts'
import { toRange } from './json.ts'

const COMMANDS = { error: 'error', warning: 'warning', info: 'notice' } as const

/**
 * Renders one GitHub Actions workflow command per diagnostic. GitHub shows them at their lines on the pages of a
 * workflow run and of a pull request. `repositoryPath` converts a displayed path to a path relative to the repository's
 * root. https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function renderAnnotations(
  diagnostics: readonly Diagnostic[],
  repositoryPath: (path: string) => string = path => path,
): string {
  return diagnostics.map(diagnostic => `${annotation(diagnostic, repositoryPath)}\n`).join('')
}

function annotation(diagnostic: Diagnostic, repositoryPath: (path: string) => string): string {
  const { code, severity, message, span, notes = [], hint } = diagnostic
  const properties: [string, string | number][] = []
  if (span) {
    const { start, end } = toRange(span)
    properties.push(['file', repositoryPath(span.file.path)], ['line', start.line], ['col', start.column])
    // GitHub accepts an end column only if the range is within one line.
    if (end.line === start.line) properties.push(['endColumn', end.column])
    else properties.push(['endLine', end.line])
  }
  properties.push(['title', code])
  const text = [message, ...notes.map(note => `note: ${note}`), ...(hint === undefined ? [] : [`help: ${hint}`])]
  const list = properties.map(([name, value]) => `${name}=${escapeProperty(String(value))}`).join(',')
  return `::${COMMANDS[severity]} ${list}::${escapeData(text.join('\n'))}`
}

const escapeData = (text: string) => printableLines(text).replaceAll('%', '%25').replaceAll('\n', '%0A')

const escapeProperty = (text: string) => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
