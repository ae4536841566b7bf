import type { DiagnosticKind } from './diagnostic.ts'

/** The parts of a diagnostic that explain its code. Most codes are kinds of diagnostics. */
export type ExplainedCode = Pick<DiagnosticKind<never>, 'code' | 'severity' | 'explain' | 'loss' | 'strict'>

/** The page that `devctl explain CODE` prints. */
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
 * docs/diagnostics.md: every kind by its code, with its severity, its page and, where there is one,
 * a golden case that shows it. `examples` gives the folders of such cases, from the root of the
 * repository, by code.
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
