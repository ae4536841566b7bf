import type { Diagnostic as EditorDiagnostic } from 'vscode-languageserver-protocol'
import type { Diagnostic, Severity } from '../../compiler/diagnostics/diagnostic.ts'
import { printableLines } from '../../compiler/values/printable.ts'
import { ABOUT_OPTIONS } from '../../project/compile-files.ts'
import type { KnownProject } from '../session/known-project.ts'
import { rangeOfSpan, toLocation, uriOf } from './positions.ts'

// Numbers of the protocol: https://microsoft.github.io/language-server-protocol/specifications/specification-current/
const SEVERITIES: Readonly<Record<Severity, 1 | 2 | 3>> = { error: 1, warning: 2, info: 3 }
const UNNECESSARY = 1

/** A diagnostic of a file in two forms: as devctl reports it, and as the editor shows it. */
export interface ShownDiagnostic {
  readonly of: Diagnostic
  readonly shown: EditorDiagnostic
}

/**
 * Returns the diagnostics of a project by the paths of their files. A diagnostic without a position is shown at the
 * start of the file `asked`, or omitted if it is about an option of the command line. `explained` returns the address
 * of the documentation of a diagnostic code.
 */
export function diagnosticsOf(
  { compiled: { diagnostics }, secrets }: KnownProject,
  asked: string,
  explained: (code: string) => string | undefined,
): ReadonlyMap<string, readonly ShownDiagnostic[]> {
  const found = new Map<string, ShownDiagnostic[]>()
  for (const diagnostic of diagnostics) {
    const path = diagnostic.span?.file.location ?? asked
    if (!path.startsWith('/') || isAboutOptions(diagnostic)) continue
    const shown = toShown(diagnostic, text => secrets.mask(text), explained)
    found.set(path, [...(found.get(path) ?? []), { of: diagnostic, shown }])
  }
  return found
}

/**
 * True for a diagnostic without a position that is about an option of the command line. An editor has no such options.
 */
const isAboutOptions = ({ code, span }: Diagnostic): boolean => !span && ABOUT_OPTIONS.has(code)

const START = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }

function toShown(
  { code, severity, message, notes = [], hint, span, related = [] }: Diagnostic,
  mask: (text: string) => string,
  explained: (code: string) => string | undefined,
): EditorDiagnostic {
  const lines = [message, ...notes.map(note => `note: ${note}`), ...(hint === undefined ? [] : [`help: ${hint}`])]
  const href = explained(code)
  const others = related.flatMap(({ span, message }) => {
    const location = toLocation(span)
    return location ? [{ location, message: mask(printableLines(message)) }] : []
  })
  return {
    range: span ? rangeOfSpan(span) : START,
    severity: SEVERITIES[severity],
    ...(code !== '' && { code }),
    ...(href !== undefined && { codeDescription: { href } }),
    source: 'devctl',
    message: mask(printableLines(lines.join('\n'))),
    ...(/\/(?:no-effect|unused)$/.test(code) && { tags: [UNNECESSARY] }),
    ...(others.length > 0 && { relatedInformation: others }),
  }
}

/**
 * Returns a function that returns the address of the documentation of a code. `folder` is docs/diagnostics, which is
 * part of the package.
 */
export const pageOf =
  (folder: string) =>
  (code: string): string | undefined =>
    code === '' ? undefined : `${uriOf(`${folder}/${code.replace(/\/.*/, '')}.md`)}#${code.replaceAll('/', '')}`
