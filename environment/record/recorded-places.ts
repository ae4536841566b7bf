import { SourceFile, type Span } from '../../compiler/text/source.ts'
import { type Entry, mapTree, scalarTree, type Tree } from '../../compiler/text/tree.ts'
import type { DeployedApplication, DeployedService } from './deployed-application.ts'

/** Key with the keys below it. */
interface Key {
  line?: number
  value?: string
  readonly below: Map<string, Key>
}

/**
 * Returns the services of a Compose file as far as the record knows them, for `explainFailure`: the keys have their
 * line numbers, but the files have no text. Undefined if the record contains no lines.
 */
export function recordedServices({ services }: DeployedApplication): Tree | undefined {
  const entries = services.flatMap(service => {
    const { file, line } = service
    if (file === undefined || line === undefined) return []
    const lines = [line, ...Object.values(service.keys).map(one => one.line)]
    const source = new SourceFile(file, '\n'.repeat(Math.max(...lines)))
    return [[service.service, toEntry(source, keysOf(service, line), line)] as const]
  })
  const [first] = entries
  return first && mapTree(first[1].key, entries)
}

function keysOf({ keys }: DeployedService, line: number): Key {
  const top: Key = { line, below: new Map() }
  for (const [path, { line: at, value }] of Object.entries(keys)) {
    let key = top
    for (const name of path.split('.').slice(0, 10)) {
      const next: Key = key.below.get(name) ?? { below: new Map() }
      key.below.set(name, next)
      key = next
    }
    key.line = at
    if (value !== undefined) key.value = value
  }
  return top
}

function toEntry(file: SourceFile, { line, value, below }: Key, above: number): Entry {
  const at = line ?? above
  // The text consists of line ends only, so an offset is a line number.
  const span: Span = { file, start: at - 1, end: at - 1 }
  if (value !== undefined && below.size === 0) return { key: span, value: scalarTree(span, value) }
  return {
    key: span,
    value: mapTree(
      span,
      [...below].map(([name, key]) => [name, toEntry(file, key, at)] as const),
    ),
  }
}
