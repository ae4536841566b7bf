import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { type DotenvEntry, parseDotenv, parseRawEnv } from '../../text/dotenv.ts'
import { isMadeOfSecret } from '../../text/secret-places.ts'
import type { SourceFile, Span } from '../../text/source.ts'
import {
  type Entry,
  get,
  isMap,
  isSeq,
  type MapTree,
  scalarTree,
  type Tree,
  withEntry,
  withoutKeys,
} from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'
import { isVariableWithSecret } from '../../values/secrets/secret-names.ts'
import { replaced } from '../keys/merge-rules.ts'
import { reportMachineVariable } from './checks/machine-variables.ts'
import type { LoadState } from './load-state.ts'
import { isNameOnly, valueOfName } from './named-values.ts'
import type { ScopeOf } from './scopes.ts'
import { isSecretEntry } from './variables.ts'

const unknownFormat = diagnostic({
  code: 'environment/unknown-format',
  severity: 'error',
  explain:
    'The only `format` of an env file is `raw`: `NAME=value` lines, taken literally. Without `format`, quotes and variables are interpreted.',
  text: (p: { format: string }) => ({
    message: `\`${p.format}\` is not a valid env file format`,
    hint: 'write `raw`, or remove `format`',
  }),
})

/**
 * Adds the content of env files and label files to `environment` and `labels` of a service and its pre_start hooks.
 * Values in `environment` and `labels` take precedence. Returns undefined if a file cannot be read, and reports the
 * error.
 */
export function resolveEnvironment(service: MapTree, scopeOf: ScopeOf, state: LoadState): MapTree | undefined {
  const run: EnvironmentRun = { scopeOf, state, failed: false }
  let result = resolveContainerEnvironment(service, run)
  const hooks = get(result, 'pre_start')
  if (isSeq(hooks))
    result = withEntry(result, 'pre_start', {
      ...hooks,
      items: hooks.items.map(hook => (isMap(hook) ? resolveContainerEnvironment(hook, run) : hook)),
    })
  return run.failed ? undefined : result
}

interface EnvironmentRun {
  readonly scopeOf: ScopeOf
  readonly state: LoadState
  failed: boolean
}

function resolveContainerEnvironment(container: MapTree, run: EnvironmentRun): MapTree {
  let result = container
  const environment = get(container, 'environment')
  const own = new Map<string, Entry>(isMap(environment) ? environment.entries : [])
  for (const [name, entry] of own) {
    const value = isNameOnly(entry.value) ? valueOfName(name, entry.key, run.scopeOf(entry.key)) : undefined
    if (value) own.set(name, { key: entry.key, value })
  }
  const files = get(container, 'env_file')
  const fromFiles = isSeq(files) ? readEnvFiles(files.items, own, run) : new Map<string, Entry>()
  const merged = new Map(fromFiles)
  for (const [name, entry] of own) merged.set(name, over(fromFiles.get(name), entry))
  if (merged.size > 0)
    result = withEntry(result, 'environment', {
      kind: 'map',
      span: environment?.span ?? files?.span ?? container.span,
      entries: merged,
    })
  result = withoutKeys(result, 'env_file')

  const labelFiles = get(container, 'label_file')
  if (isSeq(labelFiles)) {
    const labels = get(container, 'labels')
    const read = readLabelFiles(labelFiles.items, run)
    const all = new Map([...read, ...(isMap(labels) ? labels.entries : [])])
    if (all.size > 0)
      result = withEntry(result, 'labels', { kind: 'map', span: labels?.span ?? labelFiles.span, entries: all })
  }
  return result
}

/**
 * Reads the env files of a service. A variable in a file is looked up in the variables of the project that names the
 * file, then in `environment`, then in the entries that were read before the variable.
 */
function readEnvFiles(
  items: readonly Tree[],
  own: ReadonlyMap<string, Entry>,
  run: EnvironmentRun,
): Map<string, Entry> {
  const read = new Map<string, Entry>()
  const secret = new Set<string>()
  const textOf = (entry: Entry | undefined) =>
    entry?.value.kind === 'scalar' && entry.value.type !== 'null' ? scalarText(entry.value) : undefined
  const earlier = (name: string) => textOf(read.get(name))
  for (const item of items) {
    const path = get(item, 'path')
    if (path?.kind !== 'scalar') continue
    const scope = run.scopeOf(path.span)
    const lookup = (name: string) => scope.lookup(name)?.value ?? textOf(own.get(name))
    const required = get(item, 'required')
    const format = get(item, 'format')
    const isOptional = required?.kind === 'scalar' && required.value === false
    if (isOptional && !run.state.host.stat(String(path.value))) continue
    const file = openNamed(String(path.value), 'the env file', path.span, run)
    if (!file) {
      run.failed = true
      continue
    }
    const name = format?.kind === 'scalar' ? scalarText(format) : ''
    if (name !== '' && name !== 'raw') {
      run.state.reporter.report(unknownFormat, format!.span, { format: name })
      run.failed = true
      continue
    }
    const entries =
      name === 'raw'
        ? parseRawEnv(file, lookup, run.state.reporter)
        : parseDotenv(file, lookup, run.state.reporter, { earlier })
    run.state.reporter.budget.spend('variables', entries.length, path.span)
    for (const entry of entries) {
      const isSecret = isSecretEntry(
        entry,
        used => scope.lookup(used)?.isSecret ?? (isMadeOfSecret(own.get(used)?.value) || secret.has(used)),
      )
      if (isSecret) {
        secret.add(entry.name)
        scope.secrets.add({ span: entry.span, origin: originOf(entry), value: entry.value })
      } else secret.delete(entry.name)
      const variables = (entry.variables ?? []).map(used => ({
        name: used,
        origin: scope.lookup(used)?.origin ?? placeOf(own.get(used) ?? read.get(used)) ?? 'its default',
        span: entry.span,
      }))
      const { key, value } = fromFile(entry)
      const told = { key, value: variables.length > 0 && value.kind === 'scalar' ? { ...value, variables } : value }
      read.set(entry.name, over(read.get(entry.name), told))
      for (const used of usedBy(entry))
        reportMachineVariable(used, entry.value, entry.span, {
          variables: scope,
          reporter: run.state.reporter,
        })
    }
  }
  return read
}

const placeOf = (entry: Entry | undefined): string | undefined =>
  entry && `${entry.key.file.path}:${entry.key.file.position(entry.key.start).line}`

/**
 * Returns an entry. If it replaces an earlier entry of the same name, its value records the span of the earlier value.
 */
const over = (earlier: Entry | undefined, entry: Entry): Entry =>
  earlier ? { ...entry, value: replaced(earlier.value, entry.value) } : entry

const usedBy = ({ name, inherited, variables = [] }: DotenvEntry): readonly string[] => (inherited ? [name] : variables)

/**
 * Returns the name, in backticks, of the variable that makes an entry of an env file secret: the entry itself, or a
 * variable in its value.
 */
const originOf = ({ name, value, variables = [] }: DotenvEntry): string =>
  `\`${isVariableWithSecret(name, value) ? name : (variables[0] ?? name)}\``

/** Reads label files. A variable in a file is looked up in the labels that were read before it. */
function readLabelFiles(items: readonly Tree[], run: EnvironmentRun): Map<string, Entry> {
  const read = new Map<string, Entry>()
  const lookup = (name: string) => {
    const entry = read.get(name)?.value
    return entry?.kind === 'scalar' ? scalarText(entry) : undefined
  }
  for (const item of items) {
    if (item.kind !== 'scalar') continue
    const file = openNamed(String(item.value), 'the label file', item.span, run)
    if (!file) run.failed = true
    else
      for (const entry of parseDotenv(file, lookup, run.state.reporter, { labels: true }))
        read.set(entry.name, fromFile(entry))
  }
  return read
}

/**
 * Opens a file that a service names. Returns undefined if that fails. A missing file is reported later, once for all
 * its references.
 */
function openNamed(path: string, what: string, span: Span, { state }: EnvironmentRun): SourceFile | undefined {
  const { host, sources, reporter, missingFiles } = state
  const isMissing = path !== '' && host.stat(path) === undefined && host.readFile(path).kind === 'missing'
  if (!isMissing) return sources.open(path, what, reporter, span)
  const missing = missingFiles.get(path)
  if (missing) missing.places.push(span)
  else missingFiles.set(path, { what, places: [span] })
  return undefined
}

/** Maximum number of references shown in a message, besides the first. */
const MAX_PLACES = 5

/** Reports each missing env file and label file once, at its first reference. */
export function reportMissingFiles({ sources, reporter, missingFiles }: LoadState): void {
  for (const [path, { what, places }] of missingFiles) {
    const [first, ...others] = distinctPlaces(places)
    if (first)
      sources.reportMissing(path, what, { first, shown: others.slice(0, MAX_PLACES), others: others.length }, reporter)
  }
}

/**
 * Returns the references without repetitions. References are repeated if services share them through an anchor or
 * `extends`.
 */
const distinctPlaces = (places: readonly Span[]): readonly Span[] => [
  ...new Map(places.map(span => [`${span.file.path} ${span.start}`, span])).values(),
]

const fromFile = (entry: DotenvEntry): Entry => ({ key: entry.span, value: scalarTree(entry.span, entry.value) })
