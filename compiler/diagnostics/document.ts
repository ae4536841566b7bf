import type { DiagnosticKind } from './diagnostic.ts'

/** The fields of a diagnostic kind that explain its code. Some explained codes are not codes of diagnostic kinds. */
export type ExplainedCode = Pick<DiagnosticKind<never>, 'code' | 'severity' | 'explain' | 'loss' | 'strict'>

/** Returns the text that `devctl explain CODE` prints. */
export function diagnosticPage({ code, severity, explain, loss, strict }: ExplainedCode): string {
  const raised = loss || strict ? ', with `--strict` an error' : ''
  return `${code} (${severity}${raised})\n\n${explain.trim()}\n`
}

const INTRODUCTION = `# Diagnostics

Every message of the compiler has a code, \`family/what-is-wrong\`, which stays the same when its words change. \`devctl explain CODE\` prints
the text below; \`devctl validate --output json\` gives messages with their codes to programs. With \`--strict\` what is marked *loss* or *strict* is an error.

Codes that begin with \`platform/\` are those of errors of a [platform](platform.md).

This page is made from the code; \`npx vitest run test/unit/compiler/diagnostics -u\` writes it anew.
`

/**
 * Returns the content of docs/diagnostics.md: every kind, sorted by code, with its severity, its explanation and, if
 * available, a golden case that shows it. `examples` contains the folders of these cases by code, relative to the
 * repository's root.
 */
export function diagnosticsDocument(
  kinds: Iterable<ExplainedCode>,
  examples: ReadonlyMap<string, string> = new Map(),
): string {
  const sorted = [...kinds].sort((a, b) => (a.code < b.code ? -1 : a.code > b.code ? 1 : 0))
  const sections = sorted.map(({ code, severity, explain, loss, strict }) => {
    const example = examples.get(code)
    const shown = example ? `\nExample: [${example.split('/').at(-1)}](../${example})\n` : ''
    return `## ${code}\n\n*${severity}${loss ? ', loss' : strict ? ', strict' : ''}*\n\n${explain.trim()}\n${shown}`
  })
  return [INTRODUCTION, ...sections].join('\n')
}
