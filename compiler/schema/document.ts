import { composeShape } from './compose.ts'
import { differences } from './differences.ts'
import { type Row, shapeOf } from './row.ts'
import { serviceFamilies } from './service.ts'
import type { Shape } from './shape.ts'
import { keyRows, table } from './tables.ts'

export { differences } from './differences.ts'

/** The text of docs/compose.md: every key of the dialect, made from the table. */
export function composeDocument(): string {
  const top = composeShape.map!.keys
  const body = (key: string) => shapeOf(shapeOf(top[key]!).map!.others!.row).map!.keys
  const sections = [
    introduction,
    `## Top level\n\n${rowsTable(topLevel())}`,
    '## Services\n\nThe keys of `services.SERVICE`.',
    ...Object.entries(serviceFamilies).map(([title, keys]) => `### ${title}\n\n${keysTable(keys)}`),
    ...['volumes', 'networks', 'secrets', 'configs'].map(
      key => `## ${key[0]!.toUpperCase()}${key.slice(1)}\n\n${keysTable(body(key))}`,
    ),
    extensions,
    `## Where devctl reads a file in another way than Compose\n\n${table(
      ['', 'Compose', 'devctl'],
      differences.map(({ topic, compose, devctl }) => [topic, compose, devctl]),
    )}`,
  ]
  return `${sections.join('\n\n')}\n`
}

const introduction = `# Compose keys

<!-- Made from the table in compiler/schema; change it there. -->

Every key of the Compose Specification and of devctl's dialect, and what becomes of it in Kubernetes:

- **mapped**: it becomes what the column says.
- **approximated**: it becomes something near to it; a warning says what is lost.
- **no effect**: it means nothing in a cluster. It is accepted and left out, with a warning, or silently where nothing is lost.
- **refused**: an error, because the application would be another one without it.
- **devctl**: devctl uses it; no manifest has it.

With \`--strict\` a warning about a lost or approximated key is an error. Unknown keys are errors.`

const extensions = `## Extensions

A key that begins with \`x-\` is accepted everywhere and ignored, but for the dialect's own (\`x-node-selector\`,
\`x-platform-readiness\`, \`x-platform-liveness\`). Below \`services\`, \`volumes\`, \`networks\`, \`secrets\`, \`configs\` and
\`depends_on\` it is a name like any other.`

/** The top-level keys; members that have a section of their own are left to it. */
function topLevel(): (readonly string[])[] {
  const elsewhere = new Set(['services', 'volumes', 'networks', 'secrets', 'configs'])
  return Object.entries(composeShape.map!.keys).flatMap(([key, field]) => {
    const rows = [...rowsOf(key, field)]
    return elsewhere.has(key) ? rows.slice(0, 1) : rows
  })
}

function keysTable(keys: Readonly<Record<string, Row | Shape>>): string {
  return rowsTable(Object.entries(keys).flatMap(([key, field]) => [...rowsOf(key, field)]))
}

const rowsTable = (rows: readonly (readonly string[])[]) =>
  table(['key', 'is written as', 'fate', 'becomes', 'note'], rows)

/** The line of a key and those of its members. The keys that a hook has in common with a service are told in one line, that of `pre_start`. */
function* rowsOf(name: string, field: Row | Shape): Generator<readonly string[]> {
  for (const { name: key, row, forms } of keyRows(name, field))
    if (row.loss?.family !== 'pre-start') yield [`\`${key}\``, forms, fateOf(row), row.becomes, row.note ?? '']
}

function fateOf({ fate, loss }: Row): string {
  switch (fate) {
    case 'none':
      return loss?.severity === 'info' ? 'no effect (info)' : 'no effect'
    case 'cli':
      return 'devctl'
    default:
      return fate
  }
}
