import type { Span } from '../../text/source.ts'
import { catalogue, type Diagnostic, type DiagnosticKind, type Severity } from '../diagnostic.ts'
import { toRange } from './json.ts'

export interface SarifOptions {
  /** The version of devctl. */
  readonly version: string
  /** Converts a displayed path to a path relative to the repository's root. */
  readonly repositoryPath?: (path: string) => string
  /** The displayed path of the file at which results without a position are located; default: `compose.yaml`. */
  readonly mainFile?: string
}

const LEVELS: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = {
  error: 'error',
  warning: 'warning',
  info: 'note',
}

/**
 * Converts diagnostics to a log in the Static Analysis Results Interchange Format 2.1.0, which code hosts and editors
 * read. The rules of the log are the catalogue entries of the reported codes.
 * https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
export function diagnosticsToSarif(diagnostics: readonly Diagnostic[], options: SarifOptions) {
  const codes = [...new Set(diagnostics.map(diagnostic => diagnostic.code))].sort()
  const { version, repositoryPath = path => path, mainFile = 'compose.yaml' } = options
  const toLocation = (span: Span) => physicalLocation(span, repositoryPath)
  // The code scanning of GitHub refuses the whole log if a result has no location.
  const start = { artifactLocation: { uri: toUri(repositoryPath(mainFile)) }, region: { startLine: 1 } }
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'devctl',
            version,
            semanticVersion: version,
            rules: codes.map(code => toRule(code, catalogue.get(code))),
          },
        },
        columnKind: 'unicodeCodePoints',
        results: diagnostics.map(({ code, severity, message, span, related, notes = [], hint }) => ({
          ruleId: code,
          ruleIndex: codes.indexOf(code),
          level: LEVELS[severity],
          message: {
            text: [
              message,
              ...notes.map(note => `note: ${note}`),
              ...(hint === undefined ? [] : [`help: ${hint}`]),
            ].join('\n'),
          },
          locations: [{ physicalLocation: span ? toLocation(span) : start }],
          ...(related?.length && {
            relatedLocations: related.map((other, index) => ({
              id: index + 1,
              physicalLocation: toLocation(other.span),
              message: { text: other.message },
            })),
          }),
        })),
      },
    ],
  }
}

function toRule(code: string, kind: DiagnosticKind<never> | undefined) {
  if (!kind) return { id: code }
  return {
    id: code,
    shortDescription: { text: firstSentence(kind.explain) },
    fullDescription: { text: kind.explain.trim() },
    help: { text: kind.explain.trim(), markdown: kind.explain.trim() },
    defaultConfiguration: { level: LEVELS[kind.severity] },
  }
}

function firstSentence(page: string): string {
  const paragraph = page
    .trim()
    .split(/\n\s*\n/, 1)[0]!
    .replace(/\s+/g, ' ')
  return /^.*?[.:](?= [^a-z]|$)/.exec(paragraph)?.[0] ?? paragraph
}

function physicalLocation(span: Span, repositoryPath: (path: string) => string) {
  const { start, end } = toRange(span)
  return {
    artifactLocation: { uri: toUri(repositoryPath(span.file.path)) },
    region: { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column },
  }
}

/** Converts a path to a relative reference, or to a `file:` URL if the path is absolute. */
function toUri(path: string): string {
  const slashed = path.replaceAll('\\', '/')
  const encoded = slashed.split('/').map(encodeURIComponent).join('/')
  if (slashed.startsWith('/')) return `file://${encoded}`
  return /^[A-Za-z]:\//.test(slashed) ? `file:///${encoded.replace('%3A', ':')}` : encoded
}
