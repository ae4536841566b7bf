import { entries, items } from '../compose/read/tree-values.ts'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import { get, isMap, type Tree } from '../text/tree.ts'
import { present } from './build.ts'
import { Distinct } from './duplicates.ts'
import type { ManifestDependency } from './manifest.ts'
import { known, type Reading, readFlag, readPairs, readTimeout } from './values.ts'

const reserved = diagnostic({
  code: 'manifest/reserved-variable',
  severity: 'error',
  explain:
    '`variables` of a dependency cannot set `DEVCTL_CONTEXT`, `DEVCTL_NAMESPACE`, `DEVCTL_URL`, `DEVCTL_TOKEN`, `DEVCTL_HOME`, `XDG_CONFIG_HOME` or `XDG_STATE_HOME`: a dependency is deployed to the same cluster and namespace, with the same credentials.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is reserved for devctl and cannot be set`,
    hint: 'remove it',
  }),
})

/** Variables that determine the context, namespace and user that devctl works with. */
const RESERVED_VARIABLES: ReadonlySet<string> = new Set([
  'DEVCTL_CONTEXT',
  'DEVCTL_NAMESPACE',
  'DEVCTL_URL',
  'DEVCTL_TOKEN',
  'DEVCTL_HOME',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
])

/** Reads `dependencies`: a list of addresses, or a mapping by name. Keeps the order of the file. */
export function readDependencies(tree: Tree | undefined, reading: Reading): readonly ManifestDependency[] {
  const distinct = new Distinct(reading.reporter)
  const listed = items(tree).flatMap((item): ManifestDependency[] => {
    const repository = known(item)
    const name = repository && repositoryName(repository.value)
    if (!name) return []
    if (
      !distinct.add(
        name,
        item.span,
        `a dependency is called \`${name}\``,
        `write a mapping, in which each has a name: \`${ownerName(repository.value)}: ${repository.value}\``,
      )
    )
      return []
    return [{ name, span: item.span, repository, variables: [], wait: false }]
  })
  const named = [...entries(tree)].flatMap(([name, { key, value }]): ManifestDependency[] => {
    const repository = isMap(value) ? known(value, 'repository') : known(value)
    if (!repository) return []
    const path = ['dependencies', name]
    const variables = readPairs(get(value, 'variables'), reading)
    for (const { name: variable, key: span } of variables)
      if (RESERVED_VARIABLES.has(variable)) reading.reporter.report(reserved, span, { name: variable })
    const timeout = readTimeout(get(value, 'timeout'), [...path, 'timeout'], reading)
    return [
      {
        name,
        span: key,
        repository,
        ...present({ manifest: known(value, 'manifest'), branch: known(value, 'branch') }),
        variables,
        ...(timeout && { timeout }),
        wait: readFlag(get(value, 'wait'), [...path, 'wait'], reading)?.value ?? false,
      },
    ]
  })
  return [...listed, ...named]
}

/**
 * Returns a name that includes the owner of a repository, such as `team-api`, to distinguish two repositories with the
 * same name.
 */
function ownerName(address: string): string {
  const name = repositoryName(address)
  const owner = repositoryName(withoutEnding(address).slice(0, -name.length))
  return ['', '.', '..', name].includes(owner) ? `other-${name}` : `${owner}-${name}`
}

/** Returns the last part of a repository's address, such as `api` for `git@host:team/api.git`. */
export const repositoryName = (address: string): string =>
  withoutEnding(address)
    .split(/[/\\:]/)
    .at(-1) ?? ''

const withoutEnding = (address: string): string => address.replace(/[/\\]+$/, '').replace(/\.git$/, '')
