import type { Span } from '../../text/source.ts'
import { printable } from '../../values/printable.ts'
import type { Diagnostic, Severity } from '../diagnostic.ts'
import { excerpt } from './excerpt.ts'

export interface TextOptions {
  /** True to write escape sequences for colors; default false. */
  readonly colour?: boolean
  /**
   * Width of the terminal in columns. An excerpt is truncated to one line of this width. If absent, excerpts have up to
   * 100 columns.
   */
  readonly width?: number | undefined
}

/** Minimum width of an excerpt in columns, however narrow the terminal is. */
const NARROWEST = 20
const WIDEST = 100

/**
 * Renders diagnostics for people, one below the other, each with its excerpt. The text ends with a newline unless it is
 * empty.
 */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], options: TextOptions = {}): string {
  return diagnostics.map(diagnostic => renderDiagnostic(diagnostic, options)).join('')
}

/** Options for an entry that stands for several diagnostics. */
interface EntryOptions extends TextOptions {
  /** Further diagnostics with the same code, whose positions are listed. */
  readonly also?: readonly Diagnostic[]
  /** The total number of diagnostics in the entry, as text. */
  readonly count?: string
}

/**
 * Renders one diagnostic: its code and message, its position, the line with carets, related positions, notes and help.
 */
export function renderDiagnostic(diagnostic: Diagnostic, options: EntryOptions = {}): string {
  const paint = painter(options.colour ?? false)
  const { severity, code, message, span } = diagnostic
  const { gutter, lines: excerpted } = excerptLines(diagnostic, options)
  const lines = [`${paint(severity, `${severity}[${code}]`)}${paint('strong', `: ${printable(message)}`)}`]
  if (span) lines.push(`${gutter}${paint('gutter', '-->')} ${place(span)}`)
  lines.push(...excerpted)
  lines.push(...relatedLines(diagnostic, gutter, paint))
  for (const other of options.also ?? []) lines.push(positionLine(other, diagnostic, gutter, paint))
  lines.push(...footerLines(diagnostic, gutter, paint, options.count))
  return `${lines.join('\n')}\n`
}

/**
 * Renders a further diagnostic in the entry of `first`: its position, its message if it differs, the line with carets,
 * its related positions, and its notes and help if they differ.
 */
export function renderPosition(diagnostic: Diagnostic, first: Diagnostic, options: TextOptions = {}): string {
  const paint = painter(options.colour ?? false)
  const { gutter, lines } = excerptLines(diagnostic, options)
  const { hint, notes, ...rest } = diagnostic
  const own = {
    ...rest,
    ...(notes && notes.join('\n') !== first.notes?.join('\n') && { notes }),
    ...(hint !== undefined && hint !== first.hint && { hint }),
  }
  const all = [
    positionLine(diagnostic, first, gutter, paint),
    ...lines,
    ...relatedLines(diagnostic, gutter, paint),
    ...footerLines(own, gutter, paint),
  ]
  return `${all.join('\n')}\n`
}

function positionLine({ span, message }: Diagnostic, first: Diagnostic, gutter: string, paint: Paint): string {
  const text = message === first.message && span ? [] : [printable(message)]
  return `${gutter}${paint('gutter', '-->')} ${[...(span ? [place(span)] : []), ...text].join(': ')}`
}

/**
 * Returns the line of a diagnostic with its carets. Returns no lines if the diagnostic has no position or its file is
 * outside the project.
 */
function excerptLines(
  { severity, span, hidden }: Diagnostic,
  { colour = false, width }: TextOptions,
): { readonly gutter: string; readonly lines: readonly string[] } {
  const paint = painter(colour)
  const number = span ? String(span.file.position(span.start).line) : ''
  const gutter = ' '.repeat(Math.max(2, number.length))
  if (!span || span.file.isOutside) return { gutter, lines: [] }
  // The width without the gutter, its bar, and a truncation mark on either side.
  const room = (width || Number.POSITIVE_INFINITY) - gutter.length - ' | ……'.length
  const shown = excerpt(span, Math.min(WIDEST, Math.max(NARROWEST, room)), hidden)
  const bar = paint('gutter', '|')
  return {
    gutter,
    lines: [
      `${gutter} ${bar}`,
      `${paint('gutter', number.padStart(gutter.length))} ${bar} ${shown.text}`.trimEnd(),
      `${gutter} ${bar} ${paintMarks(shown.marks, severity, paint)}`,
    ],
  }
}

const relatedLines = ({ related = [] }: Diagnostic, gutter: string, paint: Paint): readonly string[] =>
  related.map(other => `${gutter}${paint('gutter', ':::')} ${place(other.span)}: ${printable(other.message)}`)

function footerLines(
  { notes = [], hint }: Pick<Diagnostic, 'notes' | 'hint'>,
  gutter: string,
  paint: Paint,
  count?: string,
): readonly string[] {
  const footer = (kind: 'note' | 'help', text: string): readonly string[] => {
    const [first, ...rest] = text.split('\n').map(printable)
    const head = `${gutter} ${paint('gutter', '=')} ${paint('strong', `${kind}:`)} ${first}`
    return [head, ...rest.map(line => `${gutter}         ${line}`.trimEnd())]
  }
  const told = count === undefined ? notes : [...notes, count]
  return [...told.flatMap(note => footer('note', note)), ...(hint === undefined ? [] : footer('help', hint))]
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
