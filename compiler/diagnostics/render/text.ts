import type { Span } from '../../text/source.ts'
import { printable } from '../../values/printable.ts'
import type { Diagnostic, Severity } from '../diagnostic.ts'
import { excerpt } from './excerpt.ts'

export interface TextOptions {
  /** With escape sequences for colours; default false. */
  readonly colour?: boolean
  /**
   * Columns of the terminal: excerpts are cut so that they fit into one line. Absent: 100 columns
   * of text.
   */
  readonly width?: number | undefined
}

/** The minimum columns of an excerpt, however narrow the terminal is. */
const NARROWEST = 20
const WIDEST = 100

/**
 * The diagnostics as people read them, one below the other, each with its excerpt; ends with a line
 * end unless there are none.
 */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], options: TextOptions = {}): string {
  return diagnostics.map(diagnostic => renderDiagnostic(diagnostic, options)).join('')
}

/**
 * One diagnostic: its code and message, its place, the line with carets, related places, notes and
 * help.
 */
export function renderDiagnostic(diagnostic: Diagnostic, options: TextOptions = {}): string {
  const paint = painter(options.colour ?? false)
  const { severity, code, message, span } = diagnostic
  const number = span ? String(span.file.position(span.start).line) : ''
  const gutter = ' '.repeat(Math.max(2, number.length))
  // Before the text stands the gutter with its bar, and a mark on either side where it is cut.
  const room = (options.width || Number.POSITIVE_INFINITY) - gutter.length - ' | ……'.length
  const shown = span && excerpt(span, Math.min(WIDEST, Math.max(NARROWEST, room)), diagnostic.hidden)
  const bar = paint('gutter', '|')

  const lines = [`${paint(severity, `${severity}[${code}]`)}${paint('strong', `: ${printable(message)}`)}`]
  if (span && shown) {
    lines.push(`${gutter}${paint('gutter', '-->')} ${place(span)}`)
  }
  if (span && shown && !span.file.isOutside) {
    lines.push(`${gutter} ${bar}`)
    lines.push(`${paint('gutter', number.padStart(gutter.length))} ${bar} ${shown.text}`.trimEnd())
    lines.push(`${gutter} ${bar} ${paintMarks(shown.marks, severity, paint)}`)
  }
  for (const other of diagnostic.related ?? []) {
    lines.push(`${gutter}${paint('gutter', ':::')} ${place(other.span)}: ${printable(other.message)}`)
  }
  const footer = (kind: 'note' | 'help', text: string) => {
    const [first, ...rest] = text.split('\n').map(printable)
    lines.push(`${gutter} ${paint('gutter', '=')} ${paint('strong', `${kind}:`)} ${first}`)
    for (const line of rest) lines.push(`${gutter}         ${line}`.trimEnd())
  }
  for (const note of diagnostic.notes ?? []) footer('note', note)
  if (diagnostic.hint !== undefined) footer('help', diagnostic.hint)
  return `${lines.join('\n')}\n`
}

function place(span: Span): string {
  const { line, column } = span.file.position(span.start)
  return `${printable(span.file.path)}:${line}:${column}`
}

function paintMarks(marks: string, severity: Severity, paint: Paint): string {
  const blanks = marks.length - marks.trimStart().length
  return marks.slice(0, blanks) + paint(severity, marks.slice(blanks))
}

type Paint = (style: Severity | 'gutter' | 'strong', text: string) => string

const STYLES = { error: '1;31', warning: '1;33', info: '1;36', gutter: '34', strong: '1' } as const

function painter(colour: boolean): Paint {
  return colour ? (style, text) => `\x1b[${STYLES[style]}m${text}\x1b[0m` : (_style, text) => text
}
