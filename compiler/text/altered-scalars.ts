import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { Tree } from './tree.ts'
import { scalarText } from './tree-text.ts'

const rewritten = diagnostic({
  code: 'yaml/rewritten-value',
  severity: 'warning',
  explain:
    'An unquoted value of a variable or label was read as a number, which changes its text: `0545` is octal and becomes 357, `1.10` becomes 1.1, `1e3` becomes 1000. Quote it to keep the text.',
  text: (p: { written: string; read: string }) => ({
    message: `\`${p.written}\` is read as the number ${p.read}`,
    hint: `to keep the text, quote it: \`"${p.written}"\``,
  }),
})
const date = diagnostic({
  code: 'yaml/date',
  severity: 'warning',
  explain:
    'YAML has a date type, and other tools rewrite an unquoted date: Docker Compose turns `2024-01-01` into `2024-01-01 00:00:00 +0000 UTC`. devctl keeps the text. Quote it, so that every tool does.',
  text: (p: { written: string }) => ({
    message: `other tools may rewrite the date \`${p.written}\``,
    hint: `quote it: \`"${p.written}"\``,
  }),
})

/** Warns about an unquoted number or date in a text position if YAML would change its notation. */
export function reportAlteredScalar(tree: Tree, reporter: Reporter): void {
  if (tree.kind !== 'scalar' || tree.style !== 'plain') return
  const written = tree.span.file.text.slice(tree.span.start, tree.span.end)
  if (tree.type === 'date') reporter.report(date, tree.span, { written })
  else if ((tree.type === 'int' || tree.type === 'float') && scalarText(tree) !== written)
    reporter.report(rewritten, tree.span, { written, read: scalarText(tree) })
}
