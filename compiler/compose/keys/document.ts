import { shapeOf } from '../../schema/row.ts'
import type { Row, Shape } from '../../schema/shape.ts'
import { keyRows, table } from '../../schema/tables.ts'
import { composeShape } from './compose.ts'
import { differences } from './differences.ts'
import { fateText } from './fate-text.ts'
import { tableRows } from './lookup.ts'
import { runTimeRules } from './run-time.ts'
import { serviceFamilies } from './service.ts'

export { differences } from './differences.ts'

/** Generates docs/compose.md from the table of keys. */
export function composeDocument(): string {
  const top = composeShape.map!.keys
  const body = (key: string) => shapeOf(shapeOf(top[key]!).map!.others!.row).map!.keys
  const sections = [
    introduction,
    `## Top level\n\n${rowsTable(topLevel())}`,
    '## Services\n\nThe keys of `services.SERVICE`.',
    ...Object.entries(serviceFamilies).map(([title, keys]) => `### ${title}\n\n${keysTable(keys)}`),
    `## Jobs\n\nThe keys of \`jobs.JOB\` are those of services, without those that are about a service that lasts, such as \`restart\`,\n\`scale\` and \`deploy\`, and \`triggers\`. [jobs.md](jobs.md) shows them.\n\n${keysTable({ triggers: body('jobs')['triggers']! })}`,
    ...['volumes', 'networks', 'secrets', 'configs'].map(
      key => `## ${key[0]!.toUpperCase()}${key.slice(1)}\n\n${keysTable(body(key))}`,
    ),
    hostPaths,
    extensions,
    runTime,
    `## Differences from Compose\n\n${table(
      ['', 'Compose', 'devctl'],
      differences.map(({ topic, compose, devctl }) => [topic, compose, devctl]),
    )}`,
  ]
  return `${sections.join('\n\n')}\n`
}

const introduction = `# Compose keys

<!-- Generated from the table in compiler/compose/keys. Edit it there. -->

Every key of the Compose Specification and of devctl's dialect, and what it becomes in Kubernetes:

- **mapped**: it becomes what the column "becomes" shows.
- **approximated**: there is no exact equivalent; devctl writes the nearest one and warns about what is lost.
- **no effect**: there is no equivalent. The key is accepted and left out, with a warning unless nothing is lost.
- **refused**: an error, because the application would not work as described without it.
- **devctl**: devctl itself uses the key; it does not appear in manifests.

With \`--strict\` warnings about keys without effect and approximated keys are errors. Unknown keys are always errors.`

const hostPaths = `## Host paths

A cluster cannot access the files on your machine, so a host path in \`volumes\` becomes a Kubernetes object. Which one depends on what git tracks, not on what
is on disk, so a laptop and a fresh clone render the same manifests.

| content of the path in a git checkout | becomes |
| --- | --- |
| tracked files, up to 1 MiB in total | a ConfigMap, or a Secret if the content looks like keys, mounted read-only. Content is taken from the working tree, file modes from the index. Equal files and folders are one ConfigMap, named after the file and its content, for all services that mount them. A service that mounts a folder and a file of it takes the file from the ConfigMap of the folder |
| a folder without tracked files (\`.gitkeep\` and the like do not count), or nothing | a claim named after the path, shared by all services that mount it |
| the same, but no service writes to it, or its name looks like a file | an error: there is nothing to read |
| more than 1 MiB of tracked files | an error that says what to write; \`deploy\` mounts an empty claim in place of a folder that is written to, and \`up\` synchronizes it |
| an untracked file | a ConfigMap or Secret, with a warning: other machines do not have the file |

- Untracked files next to tracked ones are left out, with a warning that names them. A file that is mounted into a copied folder becomes part of it.
- A service with \`build\` does not mount what its Dockerfile copies to the same place from the context (\`.dockerignore\` and stages are considered). Its other host
  paths are treated as above; what cannot be copied is left out with a warning.
- A checkout counts if it tracks any file in the project folder. Outside a checkout, and if git fails, the content of a path is what is on this machine
  without \`.git\` and ignored files, with a warning.
- A path outside the project and its checkout becomes a Secret. A missing folder there becomes a claim: one in your home directory, and any other that a service
  writes to. A missing file is not mounted, with a warning.
- A claim of a host path belongs to the \`user\` of the service if that is a number, else to the user of its image if devctl knows it.
- A folder that becomes a claim is also mounted where a folder around it is copied: with \`.:/sources\`, the claim of \`./logs\` is at \`/sources/logs\`.
- Line endings are taken from the working tree: set \`eol=lf\` in \`.gitattributes\` if people work on Windows with \`core.autocrlf\`.

\`x-mount\` in the long form overrides these rules:

\`\`\`yaml
volumes:
  - type: bind
    source: ./dist
    target: /usr/share/nginx/html
    x-mount: config   # or secret, claim, skip
\`\`\``

const ownExtensions = [...new Set(tableRows().map(({ path }) => path.at(-1)!))].filter(key => key.startsWith('x-'))

const extensions = `## Extensions

A key that begins with \`x-\` is accepted and ignored everywhere, except for the dialect's own
(${ownExtensions.map(key => `\`${key}\``).join(', ')}). Below \`services\`, \`volumes\`, \`networks\`, \`secrets\`, \`configs\` and
\`depends_on\` it is an ordinary name.`

const runTime = `## What Compose does at run time, and what devctl does

An application that runs with \`docker compose up\` is meant to run with \`devctl deploy\`, unedited. Each row names the test that shows it.

${Object.entries(runTimeRules)
  .map(
    ([title, rules]) =>
      `### ${title}\n\n${table(
        ['', 'Compose', 'devctl', 'Test'],
        rules.map(({ topic, compose, devctl, test }) => [topic, compose, devctl, `\`${test}\``]),
      )}`,
  )
  .join('\n\n')}`

/** Returns the rows of top-level keys, without the members of keys that have their own section in the page. */
function topLevel(): (readonly string[])[] {
  const elsewhere = new Set(['services', 'jobs', 'volumes', 'networks', 'secrets', 'configs'])
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

/**
 * Yields the rows of a key and its members. The row of `pre_start` stands for all container keys that have no effect in
 * a hook.
 */
function* rowsOf(name: string, field: Row | Shape): Generator<readonly string[]> {
  for (const { name: key, row, forms } of keyRows(name, field))
    if (row.loss?.family !== 'pre-start') yield [`\`${key}\``, forms, fateText(row), row.becomes, row.note ?? '']
}
