import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import type { SecretRules } from '../options.ts'
import { validate } from '../schema/validate.ts'
import { interpolate } from '../syntax/interpolate.ts'
import { parseYaml, type YamlDocument } from '../syntax/parse.ts'
import type { SourceFile, Span } from '../syntax/source.ts'
import { get, isMap, isNull, type MapTree, type Tree, withEntry, withoutKeys } from '../syntax/tree.ts'
import { renameAdopted } from './adopted.ts'
import { canonical } from './canonical.ts'
import { CASTS } from './casts.ts'
import { convertScalar } from './convert.ts'
import { withDefaults } from './defaults.ts'
import { applyExtends, type ExtendsCache } from './extends.ts'
import { applyIncludes } from './include.ts'
import { sparedValues } from './mapped-values.ts'
import { mergeModels } from './merge.ts'
import { touchedPart, withPart } from './part.ts'
import { resolvePaths } from './paths.ts'
import { Resets } from './reset.ts'
import { checkResources } from './resource-rules.ts'
import { reportRewritten } from './rewritten.ts'
import type { Sources } from './sources.ts'
import { scalarText } from './tree-text.ts'
import { removeDuplicates } from './unique.ts'
import type { VariableScope } from './variables.ts'

const notAMapping = diagnostic({
  code: 'schema/not-a-mapping',
  severity: 'error',
  explain:
    'A Compose file is a mapping at its top: `services:` and the like, with their values below them. A list or a single value cannot be read.',
  text: (p: { found: string }) => ({
    message: `the ${p.found === 'nothing' ? 'document' : 'file'} holds ${p.found}, and a Compose file is a mapping`,
    hint: p.found === 'nothing' ? 'remove the `---` of the empty document' : 'begin with `services:`',
  }),
})

/** What all files of a load share: the root project's, those it includes and those it extends. */
export interface LoadState {
  readonly host: CompilerHost
  readonly sources: Sources
  readonly reporter: Reporter
  /** Things in error, as `services.web`: left out, and never reported as missing. */
  readonly broken: Set<string>
  /** Services with keys in error, and those keys, which are taken out, so that the rest can be checked. `*` stands for any key. */
  readonly lost: Map<string, Set<string>>
  /** The variables of the included project that a service comes from. */
  readonly scopes: Map<string, VariableScope>
  /** Set when a file or a part of it could not be read at all, so that missing things need not be missing. */
  incomplete: boolean
  /** The documents of the files that were read. */
  readonly documents: Map<SourceFile, readonly YamlDocument[] | undefined>
  /** Where a manifest names the files. */
  readonly places: ReadonlyMap<string, Span>
  /** Values that come from Secrets need not be known. */
  readonly secretRules?: SecretRules
  /** Env files and label files that are not there, with all places that name them. */
  readonly missingFiles: Map<string, MissingFile>
}

/** A file that is not there, and the places that name it. */
export interface MissingFile {
  /** What it is called in messages: `the env file`. */
  readonly what: string
  readonly places: Span[]
}

/** One project: the root, or one that `include` brings. */
export interface ProjectScope {
  /** Absolute. */
  readonly directory: string
  readonly variables: VariableScope
  /** The files whose inclusion led here, for cycles. */
  readonly including: readonly string[]
}

/** The documents of a file, read once; undefined when it is not there or is no YAML (reported). */
export function documentsOf(
  path: string,
  what: string,
  state: LoadState,
  span: Span | undefined = state.places.get(path),
): readonly YamlDocument[] | undefined {
  const file = state.sources.open(path, what, state.reporter, span)
  if (!file) {
    state.incomplete = true
    return undefined
  }
  state.reporter.registerFile(file.path)
  if (!state.documents.has(file)) state.documents.set(file, parseYaml(file, state.reporter))
  const documents = state.documents.get(file)
  if (!documents) state.incomplete = true
  return documents
}

/**
 * Loads a project's files, one document after another, and merges them (compose-spec.md 1.1, stages I1 to I15 and F1 to F4). Gives a canonical model with
 * absolute paths, without what was in error.
 */
export function loadModel(files: readonly string[], scope: ProjectScope, state: LoadState): MapTree | undefined {
  const extendsCache: ExtendsCache = new Map()
  let model: MapTree | undefined
  for (const path of files)
    for (const [index, document] of (documentsOf(path, 'the Compose file', state) ?? []).entries()) {
      // Each is merged with all before it.
      if (index > 0) state.reporter.budget.spend('loads', 1, document.tree?.span)
      model = addDocument(model, document, path, scope, extendsCache, state)
    }
  if (!model) return undefined
  model = withDefaults(model)
  const unfit = checkResources(model, state.reporter)
  for (const name of unfit.services) lose(name, [], state)
  model = leaveOut(model, unfit.resources, state)
  model = resolvePaths(model, { directory: scope.directory, host: state.host })
  return resolveListedEnvironment(model, scope.variables)
}

function addDocument(
  base: MapTree | undefined,
  document: YamlDocument,
  path: string,
  scope: ProjectScope,
  extendsCache: ExtendsCache,
  state: LoadState,
): MapTree | undefined {
  const { reporter } = state
  const own = readDocument(document, scope.variables, state)
  if (!own) return base
  const resets = new Resets(document.resets)
  let added = applyIncludes(own, { ...scope, including: [...scope.including, path] }, resets, state)
  const before = base && resets.applyTo(base)
  added = applyExtends(added, path, scope, resets, extendsCache, state)
  resets.reportUnused(reporter)
  added = leaveOut(added, [], state)
  if (!before) return settle(added, added, state)
  const merged = mergeModels(before, added, reporter)
  const part = touchedPart(merged, added)
  return leaveOut(withPart(merged, part, settle(part, merged, state)), [], state)
}

/** Checks a model and makes it long; `whole` is what it is a part of. Without what was in error. */
function settle(part: MapTree, whole: MapTree, state: LoadState): MapTree {
  const { reporter } = state
  let model = removeDuplicates(part) as MapTree // a map stays a map
  const faults = validate(model, reporter)
  if (faults.topLevel.size > 0) state.incomplete = true
  model = leaveOut(withoutKeys(model, ...faults.topLevel), [...faults.entries], state)
  model = withoutLost(model, faults.keys, state)
  const long = canonical(model, reporter, whole)
  for (const [name, keys] of long.lost) lose(name, keys, state)
  return removeDuplicates(leaveOut(long.model, long.broken, state)) as MapTree
}

/** A document with its variables substituted, without what failed; undefined when it is empty or no mapping (reported). */
export function readDocument(document: YamlDocument, variables: VariableScope, state: LoadState): MapTree | undefined {
  const { tree } = document
  if (!tree) return undefined
  if (!isMap(tree)) {
    const found = isNull(tree) ? 'nothing' : tree.kind === 'seq' ? 'a list' : 'a single value'
    state.reporter.report(notAMapping, tree.span, { found })
    state.incomplete = true
    return undefined
  }
  const { tree: result, failed } = interpolate(
    tree,
    variables.lookup,
    CASTS,
    convertScalar,
    state.reporter,
    sparedValues(tree, state.secretRules),
  )
  if (result) variables.secrets.addFrom(result)
  const broken: string[] = []
  const lost = new Map<string, Set<string>>()
  for (const [section, name, key] of failed) {
    if (section === 'services' && name !== undefined && key !== undefined) {
      const keys = lost.get(name)
      if (keys) keys.add(key)
      else lost.set(name, new Set([key]))
    } else if (name !== undefined && SECTIONS.has(section!)) broken.push(`${section}.${name}`)
    else if (!section?.startsWith('x-')) state.incomplete = true
  }
  const unusable = failed.some(([section]) => section === 'endpoints') ? ['endpoints'] : []
  const sound = withoutLost(withoutKeys(result as MapTree, ...unusable), lost, state) // a map stays a map
  const model = renameAdopted(leaveOut(sound, broken, state), state.reporter)
  reportRewritten(model, state.reporter)
  return model
}

const SECTIONS = new Set(['services', 'networks', 'volumes', 'secrets', 'configs', 'models'])

/** Notes that a service has errors: the keys are taken out, and what is missing now is no mistake of its own. */
export function lose(service: string, keys: Iterable<string>, { lost }: LoadState): void {
  const known = lost.get(service) ?? new Set()
  for (const key of keys) known.add(key)
  lost.set(service, known)
}

/** Takes keys in error out of the services of a model. */
function withoutLost(model: MapTree, lost: ReadonlyMap<string, ReadonlySet<string>>, state: LoadState): MapTree {
  if (lost.size === 0) return model
  for (const [name, keys] of lost) lose(name, keys, state)
  return mapSection(model, 'services', (service, name) =>
    isMap(service) ? withoutKeys(service, ...(lost.get(name) ?? [])) : service,
  )
}

/** Takes what is in error out of a model, now and for the rest of the load. */
export function leaveOut(model: MapTree, broken: readonly string[], state: LoadState): MapTree {
  for (const name of broken) state.broken.add(name)
  if (state.broken.size === 0) return model
  const bySection = new Map<string, string[]>()
  for (const name of state.broken) {
    const dot = name.indexOf('.')
    const section = name.slice(0, dot)
    const keys = bySection.get(section)
    if (keys) keys.push(name.slice(dot + 1))
    else bySection.set(section, [name.slice(dot + 1)])
  }
  let result = model
  for (const [name, keys] of bySection) {
    const section = get(result, name)
    if (!isMap(section)) continue
    const kept = withoutKeys(section, ...keys.filter(key => section.entries.has(key)))
    if (kept !== section) result = withEntry(result, name, kept)
  }
  return result
}

/** `NAME` alone in a list of variables takes the project's value. */
function resolveListedEnvironment(model: MapTree, variables: VariableScope): MapTree {
  return mapSection(model, 'services', service => {
    const environment = get(service, 'environment')
    if (environment?.kind !== 'seq' || !isMap(service)) return service
    let changed = false
    const items = environment.items.map(item => {
      if (item.kind !== 'scalar') return item
      const name = scalarText(item)
      const variable = name.includes('=') ? undefined : variables.lookup(name)
      if (!variable) return item
      changed = true
      const { value, ...from } = variable
      if (from.isSecret) variables.secrets.add({ span: item.span, origin: `\`${name}\``, value })
      // The value is written nowhere: all that there is of it in the file is the name.
      const { span } = item
      const pieces = [
        { at: 0, length: name.length, span, verbatim: false },
        { at: name.length + 1, length: value.length, span, verbatim: false },
      ]
      return { ...item, value: `${name}=${value}`, pieces, variables: [{ name, ...from, span }] }
    })
    return changed ? withEntry(service, 'environment', { ...environment, items }) : service
  })
}

/** The model with every entry of a section changed; the same model when none does. */
export function mapSection(model: MapTree, section: string, change: (value: Tree, key: string) => Tree): MapTree {
  const entries = get(model, section)
  if (!isMap(entries)) return model
  const changed = new Map(entries.entries)
  let any = false
  for (const [key, entry] of entries.entries) {
    const value = change(entry.value, key)
    if (value === entry.value) continue
    any = true
    changed.set(key, { key: entry.key, value })
  }
  return any ? withEntry(model, section, { ...entries, entries: changed }) : model
}
