import type { CodeAction, Range } from 'vscode-languageserver-protocol'
import type { ShownDiagnostic } from './diagnostics.ts'
import type { AskedDocument } from './question.ts'

/**
 * Returns the quick fixes for the diagnostics in a range. A fix replaces a name with the name that the hint of the
 * diagnostic proposes.
 */
export function fixesIn(
  { document }: Pick<AskedDocument, 'document'>,
  diagnostics: readonly ShownDiagnostic[],
  range: Range,
): readonly CodeAction[] {
  return diagnostics.flatMap(({ of, shown }) => {
    const proposed = /^did you mean `([^`\n]+)`\?/.exec(of.hint ?? '')?.[1]
    if (proposed === undefined || !overlaps(shown.range, range)) return []
    const written = document.getText(shown.range)
    const [, quote = '', word = ''] = /^(["']?)(.*)\1$/s.exec(written) ?? []
    // The document may have changed since it was compiled, and the name may be a part of what is marked.
    if (word === '' || !of.message.includes(`\`${word}\``)) return []
    const newText = `${quote}${proposed}${quote}`
    return [
      {
        title: `Change to \`${proposed}\``,
        kind: 'quickfix',
        diagnostics: [shown],
        isPreferred: true,
        edit: { changes: { [document.uri]: [{ range: shown.range, newText }] } },
      },
    ]
  })
}

const overlaps = (one: Range, other: Range): boolean =>
  !isBefore(one.end, other.start) && !isBefore(other.end, one.start)

const isBefore = (one: Range['start'], other: Range['start']): boolean =>
  one.line < other.line || (one.line === other.line && one.character < other.character)
