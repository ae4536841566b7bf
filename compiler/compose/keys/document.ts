import { shapeOf } from '../../schema/row.ts'
import type { Row, Shape } from '../../schema/shape.ts'
import { keyRows, table } from '../../schema/tables.ts'
import { composeShape } from './compose.ts'
import { differences } from './differences.ts'
import { serviceFamilies } from './service.ts'

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
    hostPaths,
    extensions,
    `## Where devctl reads a file in another way than Compose\n\n${table(
      ['', 'Compose', 'devctl'],
      differences.map(({ topic, compose, devctl }) => [topic, compose, devctl]),
    )}`,
  ]
  return `${sections.join('\n\n')}\n`
}

const introduction = `# Compose keys

<!-- Made from the table in compiler/compose/keys; change it there. -->

Every key of the Compose Specification and of devctl's dialect, and what becomes of it in Kubernetes:

- **mapped**: it becomes what the column says.
- **approximated**: it becomes something near to it; a warning says what is lost.
- **no effect**: it means nothing in a cluster. It is accepted and left out, with a warning, or silently where nothing is lost.
- **refused**: an error, because the application would be another one without it.
- **devctl**: devctl uses it; no manifest has it.

With \`--strict\` a warning about a lost or approximated key is an error. Unknown keys are errors.`

const hostPaths = `## Host paths

A cluster does not see the files of your machine, so a host path of \`volumes\` becomes something that it has. What that is depends on what git tracks, not on what
is on the disk, so that a laptop and a fresh clone render the same.

| in a git checkout the path holds | it becomes |
| --- | --- |
| tracked files, up to 1 MiB together | a ConfigMap, or a Secret where it looks like keys, mounted read-only. The files are those of the working tree, their modes those of the index |
| a folder, or nothing, in which git tracks nothing (\`.gitkeep\` and the like do not count) | a claim that is named after the path, shared by all services that mount it |
| the same, but no service writes to it; or it is named like a file | an error: there is nothing to read |
| more than 1 MiB of tracked files | an error that names \`x-mount\` |
| an untracked file | a ConfigMap or Secret, with a warning: other machines do not have it |

- Untracked files beside tracked ones are left out, and a warning names them. A file that is mounted into a folder which is copied joins it.
- A service with \`build\` does not mount what its Dockerfile copies to the same place from the context (\`.dockerignore\` and stages are considered). Else its host
  paths are treated as above; what cannot be copied is left out with a warning.
- A checkout counts when it tracks anything in the folder of the project. Outside one, and where git does not answer, a path holds what is there on this machine
  without \`.git\` and what \`.gitignore\` names, with a warning.
- What lies outside the project and its checkout becomes a Secret. Where it is missing, a folder of your home is not mounted, with a warning.
- Line ends are those of the working tree: give text files \`eol=lf\` in \`.gitattributes\` where people work on Windows with \`core.autocrlf\`.

\`x-mount\` in the long form has the last word:

\`\`\`yaml
volumes:
  - type: bind
    source: ./dist
    target: /usr/share/nginx/html
    x-mount: config   # or secret, claim, skip
\`\`\``

const extensions = `## Extensions

A key that begins with \`x-\` is accepted everywhere and ignored, but for the dialect's own (\`x-node-selector\`,
\`x-mount\`, \`x-platform-readiness\`, \`x-platform-liveness\`). Below \`services\`, \`volumes\`, \`networks\`, \`secrets\`, \`configs\` and
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
