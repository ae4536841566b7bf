import { shapeOf } from '../../schema/row.ts'
import type { Row, Shape } from '../../schema/shape.ts'
import { keyRows, table } from '../../schema/tables.ts'
import { composeShape } from './compose.ts'
import { differences } from './differences.ts'
import { anchorOf } from './docs-link.ts'
import { fateText } from './fate-text.ts'
import { hostPaths } from './host-paths-page.ts'
import { tableRows } from './lookup.ts'
import { runTimeRules } from './run-time.ts'
import { serviceFamilies } from './service.ts'

export { differences } from './differences.ts'

/** Generates the pages about keys from the table of keys. Returns their texts by path in docs/. */
export function composePages(): ReadonlyMap<string, string> {
  return new Map([
    ['compose.md', page(introduction, families(), `## Top level\n\n${rowsTable(topLevel())}`, jobs(), extensions)],
    ['compose/services.md', page(services, ...familyTables())],
    ['compose/resources.md', page(resources, ...resourceTables())],
    ['compose/host-paths.md', page(hostPaths)],
    ['compose/run-time.md', page(runTime)],
    ['compose/differences.md', page(differencesText)],
  ])
}

/** Joins the sections of a page, and adds a comment below the title that says how the page is generated. */
function page(first: string, ...sections: readonly string[]): string {
  const [title, ...rest] = first.split('\n')
  return `${[`${title}\n\n${GENERATED}\n${rest.join('\n')}`, ...sections].join('\n\n')}\n`
}

const GENERATED = '<!-- Generated from the table in compiler/compose/keys. Edit it there. -->'

const introduction = `# Compose keys

Every key of the Compose Specification and of devctl's dialect, and what it becomes in Kubernetes.

| page | has |
| --- | --- |
| [Keys of services](compose/services.md) | the keys of \`services.SERVICE\` |
| [Keys of volumes, networks, secrets and configs](compose/resources.md) | those of \`volumes.VOLUME\` and so on |
| [Host paths](compose/host-paths.md) | what files and folders of your machine become |
| [Compose at run time](compose/run-time.md) | names, ports, readiness, retries: how devctl does what Compose does |
| [Differences from Compose](compose/differences.md) | files that the two read differently |

The tables say of each key that it is:

- **mapped**: it becomes what the column "becomes" shows.
- **approximated**: there is no exact equivalent; devctl writes the nearest one and warns about what is lost.
- **no effect**: there is no equivalent. The key is accepted and left out, with a warning unless nothing is lost.
- **refused**: an error, because the application would not work as described without it.
- **devctl**: devctl itself uses the key; it does not appear in manifests.

With \`--strict\` warnings about keys without effect and approximated keys are errors. Unknown keys are always errors.`

const services = `# Keys of services

The keys of \`services.SERVICE\`, and what they become. [Compose keys](../compose.md) explains the columns.`

const resources = `# Keys of volumes, networks, secrets and configs

The keys of \`volumes.VOLUME\`, \`networks.NETWORK\`, \`secrets.SECRET\` and \`configs.CONFIG\`, and what they become.
[Compose keys](../compose.md) explains the columns, and [host paths](host-paths.md) what folders of your machine become.`

const ownExtensions = [...new Set(tableRows().map(({ path }) => path.at(-1)!))].filter(key => key.startsWith('x-'))

const extensions = `## Extensions

A key that begins with \`x-\` is accepted and ignored everywhere, except for the dialect's own
(${ownExtensions.map(key => `\`${key}\``).join(', ')}). Below \`services\`, \`volumes\`, \`networks\`, \`secrets\`, \`configs\` and
\`depends_on\` it is an ordinary name.`

const runTime = `# What Compose does at run time, and what devctl does

An application that runs with \`docker compose up\` is meant to run with \`devctl deploy\`, unedited. Each row names the test that shows it.

${Object.entries(runTimeRules)
  .map(
    ([title, rules]) =>
      `## ${title}\n\n${table(
        ['', 'Compose', 'devctl', 'Test'],
        rules.map(({ topic, compose, devctl, test }) => [topic, compose, devctl, `\`${test}\``]),
      )}`,
  )
  .join('\n\n')}`

const differencesText = `# Differences from Compose

Files that \`docker compose\` and devctl read differently.

${table(
  ['', 'Compose', 'devctl'],
  differences.map(({ topic, compose, devctl }) => [topic, compose, devctl]),
)}`

/** Returns a list of the service keys in Markdown, with links to the sections that explain them. */
function families(): string {
  const lines = Object.entries(serviceFamilies).map(([title, keys]) => {
    const names = Object.keys(keys).map(key => `\`${key}\``)
    return `- [${title}](compose/services.md#${anchorOf(title)}): ${names.join(', ')}`
  })
  return `## Services\n\n${lines.join('\n')}`
}

function familyTables(): readonly string[] {
  return Object.entries(serviceFamilies).map(([title, keys]) => `## ${title}\n\n${keysTable(keys)}`)
}

function resourceTables(): readonly string[] {
  return ['volumes', 'networks', 'secrets', 'configs'].map(
    key => `## ${key[0]!.toUpperCase()}${key.slice(1)}\n\n${keysTable(membersOf(key))}`,
  )
}

function jobs(): string {
  return `## Jobs

The keys of \`jobs.JOB\` are those of services, without those that are about a service that lasts, such as \`restart\`,
\`scale\` and \`deploy\`, and \`triggers\`. [jobs.md](jobs.md) shows them.

${keysTable({ triggers: membersOf('jobs')['triggers']! })}`
}

/** Returns the rows of the keys that an entry of a top-level key, such as `volumes`, can have. */
const membersOf = (key: string) => shapeOf(shapeOf(composeShape.map!.keys[key]!).map!.others!.row).map!.keys

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
