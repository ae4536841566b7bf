import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import { get, isMap, type MapTree, type Tree } from '../../text/tree.ts'
import { scalarText } from './tree-text.ts'

const rewritten = diagnostic({
  code: 'yaml/rewritten-value',
  severity: 'warning',
  explain:
    'A plain value where text belongs (a variable, a label) was read as a number and becomes a different text: `0545` is octal 357, `1.10` is 1.1, `1e3` is 1000. Put quotes around it to keep it as it is written.',
  text: (p: { written: string; read: string }) => ({
    message: `\`${p.written}\` is read as the number ${p.read}`,
    hint: `to keep the text, quote it: \`"${p.written}"\``,
  }),
})
const date = diagnostic({
  code: 'yaml/date',
  severity: 'warning',
  explain:
    'YAML has a type for dates, and other tools rewrite a plain date: Docker Compose makes `2024-01-01 00:00:00 +0000 UTC` of `2024-01-01`. devctl keeps the text. Put quotes around it, so that every tool does.',
  text: (p: { written: string }) => ({
    message: `other tools may rewrite the date \`${p.written}\``,
    hint: `quote it: \`"${p.written}"\``,
  }),
})

/** Where the values of a mapping are texts. */
const TEXT_MAPS = [
  ['environment'],
  ['labels'],
  ['annotations'],
  ['sysctls'],
  ['build', 'args'],
  ['build', 'labels'],
  ['deploy', 'labels'],
]

/** Warns of plain values in places for text whose text is not the one that is written (compose-spec.md 1.6). */
export function reportRewritten(model: MapTree, reporter: Reporter): void {
  const services = get(model, 'services')
  if (!isMap(services)) return
  for (const { value: service } of services.entries.values())
    for (const path of TEXT_MAPS) {
      const map = get(service, ...path)
      if (isMap(map)) for (const { value } of map.entries.values()) checkScalar(value, reporter)
    }
}

function checkScalar(tree: Tree, reporter: Reporter): void {
  if (tree.kind !== 'scalar' || tree.style !== 'plain') return
  const written = tree.span.file.text.slice(tree.span.start, tree.span.end)
  if (tree.type === 'date') reporter.report(date, tree.span, { written })
  else if ((tree.type === 'int' || tree.type === 'float') && scalarText(tree) !== written)
    reporter.report(rewritten, tree.span, { written, read: scalarText(tree) })
}
