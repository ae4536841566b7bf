import { catalogue, type Diagnostic } from '../diagnostic.ts'
import { renderDiagnostic, renderPosition, type TextOptions } from './text.ts'

/** Maximum number of positions listed for a warning. Further positions are only counted. */
const POSITIONS = 3

/** The diagnostics of one code and severity, in their original order; at least one. */
export type DiagnosticGroup = readonly [Diagnostic, ...Diagnostic[]]

/**
 * Groups diagnostics by code. The most serious codes come first; codes of the same seriousness keep the order of their
 * first positions.
 */
export function groupDiagnostics(diagnostics: readonly Diagnostic[]): readonly DiagnosticGroup[] {
  const groups = new Map<string, [Diagnostic, ...Diagnostic[]]>()
  for (const one of diagnostics) {
    const key = `${one.severity} ${one.code}`
    const known = groups.get(key)
    if (known) known.push(one)
    else groups.set(key, [one])
  }
  return [...groups.values()].sort(([a], [b]) => weightOf(b) - weightOf(a))
}

/**
 * Returns the weight of a diagnostic: errors weigh most, then warnings about keys that are lost or approximated, then
 * other warnings, then remarks.
 */
function weightOf({ code, severity }: Diagnostic): number {
  if (severity === 'error') return 3
  if (severity === 'info') return 0
  return catalogue.get(code)?.loss ? 2 : 1
}

/**
 * Renders one entry per code, the most serious code first. An entry of errors shows all positions, each with its
 * message, notes and help. Other entries show the first three positions and the total number.
 */
export function renderGroups(diagnostics: readonly Diagnostic[], options: TextOptions = {}): string {
  return groupDiagnostics(diagnostics)
    .map(group => (group[0].severity === 'error' ? renderErrors(group, options) : renderRemarks(group, options)))
    .join('')
}

function renderErrors([first, ...others]: DiagnosticGroup, options: TextOptions): string {
  const all = others.map(one => renderPosition(one, first, options))
  return renderDiagnostic(first, options) + all.join('')
}

function renderRemarks([first, ...others]: DiagnosticGroup, options: TextOptions): string {
  if (others.length === 0) return renderDiagnostic(first, options)
  const shown = others.slice(0, POSITIONS - 1)
  const left = others.length - shown.length
  const count = `${others.length + 1} in all`
  const note = left > 0 ? `${count}; \`devctl validate --output json\` lists them` : count
  return renderDiagnostic(first, { ...options, also: shown, count: note })
}
