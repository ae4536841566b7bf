import type { DiagnosticKind } from './diagnostic.ts'

/**
 * The fields that explain a code, for the documentation. Codes that do not belong to a diagnostic kind can have these
 * fields, too.
 */
export type ExplainedCode = Pick<DiagnosticKind<never>, 'code' | 'severity' | 'explain' | 'loss' | 'strict'>

/** Returns the text that `devctl explain CODE` prints. */
export function diagnosticPage({ code, severity, explain, loss, strict }: ExplainedCode): string {
  const raised = loss || strict ? ', with `--strict` an error' : ''
  return `${code} (${severity}${raised})\n\n${explain.trim()}\n`
}

const INTRODUCTION = `# Diagnostics

Every message of the compiler has a code, \`family/what-is-wrong\`, which stays the same when its words change. \`devctl explain CODE\` prints
the text of these pages; \`devctl validate --output json\` gives messages with their codes to programs. With \`--strict\` what is marked *loss* or
*strict* is an error.

Codes that begin with \`platform/\` are those of errors of a [platform](platform.md).

These pages are made from the code; \`npx vitest run test/unit/compiler/diagnostics -u\` writes them anew.
`

/**
 * Returns the documentation pages of all kinds. The keys are paths in docs/: `diagnostics.md` lists the codes, and
 * `diagnostics/FAMILY.md` has each code of a family with its severity, its explanation and, if available, a golden case
 * that shows it. `examples` maps codes to the folders of their golden cases, relative to the repository's root.
 */
export function diagnosticsPages(
  kinds: Iterable<ExplainedCode>,
  examples: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const families = new Map<string, ExplainedCode[]>()
  for (const kind of [...kinds].toSorted(byCode)) {
    const family = familyOf(kind)
    families.set(family, [...(families.get(family) ?? []), kind])
  }
  const rows = [...families].map(([family, members]) => {
    const codes = members.map(({ code }) => `[${nameOf(code)}](diagnostics/${family}.md#${anchorOf(code)})`)
    return `| [${family}](diagnostics/${family}.md) | ${codes.join(', ')} |`
  })
  return new Map([
    ['diagnostics.md', [INTRODUCTION, '| family | codes |', '|---|---|', ...rows, ''].join('\n')],
    ...[...families].map(
      ([family, members]) => [`diagnostics/${family}.md`, familyPage(family, members, examples)] as const,
    ),
  ])
}

function familyPage(family: string, kinds: readonly ExplainedCode[], examples: ReadonlyMap<string, string>): string {
  const sections = kinds.map(({ code, severity, explain, loss, strict }) => {
    const example = examples.get(code)
    const shown = example ? ` · example: [${example.split('/').at(-1)}](../../${example})` : ''
    return `## ${code}\n*${severity}${loss ? ', loss' : strict ? ', strict' : ''}*${shown}\n\n${explain.trim()}\n`
  })
  return [`# Diagnostics: ${family}\n\n[All codes](../diagnostics.md)\n`, ...sections].join('\n')
}

const byCode = (a: ExplainedCode, b: ExplainedCode): number => (a.code < b.code ? -1 : a.code > b.code ? 1 : 0)

const familyOf = ({ code }: ExplainedCode): string => code.slice(0, code.indexOf('/'))

const nameOf = (code: string): string => code.slice(code.indexOf('/') + 1)

/** Returns the anchor that Markdown renderers give to a heading with the code. */
const anchorOf = (code: string): string => code.replace('/', '')
