import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import { get, isMap, type MapTree, type Tree } from '../../../text/tree.ts'
import { scalarText } from '../../../text/tree-text.ts'

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

/** Keys of a service whose values are mappings with text values. */
const TEXT_MAPS = [
  ['environment'],
  ['labels'],
  ['annotations'],
  ['sysctls'],
  ['build', 'args'],
  ['build', 'labels'],
  ['deploy', 'labels'],
]

/** Warns about unquoted numbers and dates in text values if YAML would change their notation. */
export function reportAlteredScalars(model: MapTree, reporter: Reporter): void {
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
