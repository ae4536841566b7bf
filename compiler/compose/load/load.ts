import { basename, resolve } from 'node:path/posix'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { CompilerHost } from '../../host.ts'
import type { LoadOptions } from '../../options.ts'
import { SecretPlaces } from '../../text/secret-places.ts'
import type { Span } from '../../text/source.ts'
import { substitute } from '../../text/template.ts'
import { type Entry, get, isMap, isSeq, type MapTree, withEntry } from '../../text/tree.ts'
import { normalizeProjectName } from '../../values/project-name.ts'
import { entryOf } from '../read/storage/entry-variables.ts'
import { assumedVariable } from './assumed-values.ts'
import { findBaseImages } from './base-images.ts'
import { checkConsistency } from './checks/consistency.ts'
import { foreignKeys } from './checks/foreign-keys.ts'
import { reportMachineVariables } from './checks/machine-variables.ts'
import { documentsOf } from './compose-files/documents.ts'
import { type Located, locateProject } from './compose-files/locate.ts'
import { Sources } from './compose-files/sources.ts'
import { findContextServices } from './context-services.ts'
import { findDeclaredSecrets } from './declared-secrets.ts'
import { decodeModel } from './decode.ts'
import { reportMissingFiles, resolveEnvironment } from './environment.ts'
import { jobsAsServices } from './jobs.ts'
import { isInvalidPath, type LoadState, markInvalidKeys, withoutInvalid } from './load-state.ts'
import type { Loaded } from './loaded.ts'
import { mapSection } from './map-section.ts'
import { loadModel } from './model.ts'
import { normalize } from './normalize.ts'
import { applyProfiles, checkActive, profilesOf, selectServices } from './profiles.ts'
import { scopeOf } from './scopes.ts'
import type { VariableScope } from './variables.ts'

const empty = diagnostic({
  code: 'files/empty',
  severity: 'error',
  explain: 'The Compose files define nothing. A Compose file needs at least one service with an image.',
  text: (_: Record<never, never>) => ({ message: 'the Compose file is empty', hint: 'begin with `services:`' }),
})
const noName = diagnostic({
  code: 'project/no-name',
  severity: 'error',
  explain:
    'The project name is top-level `name`, else the name of the folder, in lower case and reduced to letters, digits, `-` and `_`. Here nothing remains. Add `name:` at the top of the Compose file.',
  text: (p: { folder: string } | { text: string }) => ({
    message:
      'folder' in p
        ? `the folder name \`${p.folder}\` contains no characters for a project name`
        : `\`${p.text}\` contains no characters for a project name`,
    hint:
      'folder' in p
        ? 'add `name: …` at the top of the Compose file'
        : 'use lower-case letters, digits, `-` and `_`, and begin with a letter or digit',
  }),
})

/**
 * Loads Compose files as Docker Compose does, with the differences that docs/compose/differences.md lists: finds and
 * merges the files, substitutes variables, checks the result, applies profiles and the selection of services, and reads
 * env files. Reports all errors; returns undefined if nothing could be loaded. Adds secret values to `secrets`, even
 * after errors.
 */
export function loadProject(
  options: LoadOptions,
  host: CompilerHost,
  reporter: Reporter,
  secrets = new SecretPlaces(),
): Loaded | undefined {
  const sources = new Sources(host, options.workingDirectory, options.stdin)
  const located = locateProject(options, host, sources, reporter, secrets)
  if (!located) return undefined
  // Opened here so that errors in files that the manifest names are reported in the manifest.
  for (const [path, span] of options.manifest?.places?.files ?? [])
    sources.open(path, 'the Compose file', reporter, span)
  const state: LoadState = {
    host,
    sources,
    reporter,
    invalid: new Set(),
    invalidKeys: new Map(),
    scopes: new Map(),
    incomplete: false,
    brokenSections: new Set(),
    documents: new Map(),
    missingFiles: new Map(),
    dropped: [],
    places: options.manifest?.places?.files ?? new Map(),
    ...(options.secretRules && { secretRules: options.secretRules }),
    ...(options.assumesRequired && { assumesRequired: options.assumesRequired }),
  }
  const named = nameOf(located, state)
  if (named.name === '') {
    reporter.report(noName, named.span, named.written ?? { folder: basename(located.directory) })
    return undefined
  }
  const variables = located.variables.with('COMPOSE_PROJECT_NAME', named.name)
  const model = loadModel(located.files, { directory: located.directory, variables, including: [] }, state)
  if (!model || [...model.entries.keys()].every(key => key === 'version')) {
    if (!reporter.hasErrors) reporter.report(empty, emptyPlace(located, state), {})
    return undefined
  }
  return finish(model, { named, located, variables, options }, state)
}

/** Everything that is known about a project before its files are read. */
interface ProjectInput {
  readonly named: Named
  readonly located: Located
  readonly variables: VariableScope
  readonly options: LoadOptions
}

function finish(model: MapTree, { named, located, variables, options }: ProjectInput, state: LoadState): Loaded {
  const { reporter } = state
  const loaded = jobsAsServices(model, reporter)
  const normal = normalize(loaded, named.name, variables, state)
  const decoded = decodeModel(normal.model, reporter)
  for (const [name, keys] of decoded.invalidKeys) markInvalidKeys(name, keys, state)
  const all = withoutInvalid(decoded.model, decoded.invalid, state)
  const selected = options.services ?? []
  const active = applyProfiles(all, [
    ...located.profiles,
    ...profilesOf(
      all,
      {
        names: [...new Set([...selected, ...(options.activeServices ?? [])])],
        places: options.manifest?.places?.services,
        mayExist: name => state.incomplete || isInvalidPath(`services.${name}`, state),
      },
      reporter,
    ),
  ])
  if (!state.incomplete) checkActive(all, active.model, reporter)
  const everything = get(all, 'services')
  const baseImages = isMap(everything)
    ? findBaseImages(everything, { host: state.host, reporter, overrides: options.buildOverrides })
    : () => []
  if (!state.incomplete)
    checkConsistency({
      model: active.model,
      allServices: isMap(everything) ? everything : undefined,
      isInvalid: path => isInvalidPath(path, state),
      isInvalidKey: (service, key) => ['*', key].some(one => state.invalidKeys.get(service)?.has(one)),
      isFolder: path => state.host.stat(resolve(located.directory, path))?.kind === 'folder',
      baseImages,
      reporter,
    })
  const chosen =
    selected.length > 0 ? selectServices(active.model, selected) : { model: active.model, absent: new Set<string>() }
  const tree = mapSection(chosen.model, 'services', (service, name) => {
    const resolved = isMap(service)
      ? resolveEnvironment(service, scopeOf(`services.${name}`, variables, state.scopes), state)
      : service
    if (!resolved) markInvalidKeys(name, ['environment', 'env_file'], state)
    return resolved ?? service
  })
  const used = isMap(everything)
    ? findContextServices(everything, servicesOf(tree), baseImages)
    : new Map<string, Entry>()
  reportMissingFiles(state)
  reportMachineVariables(tree, variables, reporter)
  findDeclaredSecrets(tree, options.secretRules, variables)
  const brokenServices = [...state.invalid].flatMap(path =>
    /^(?:services|jobs)\./.test(path) ? [path.slice(path.indexOf('.') + 1)] : [],
  )
  return {
    name: named.name,
    ...(named.span && { nameSpan: named.span }),
    ...(named.isGiven && { isNamed: true as const }),
    directory: located.directory,
    files: located.files,
    sources: state.sources.paths(),
    variableFiles: state.sources.variableFiles(),
    tree,
    documents: writtenDocuments(located.files, state),
    dropped: state.dropped,
    contextServices: used,
    baseImages,
    ...(state.incomplete && { isIncomplete: true as const }),
    absentServices: new Set([...active.absent, ...chosen.absent, ...brokenServices]),
    incompleteServices: state.invalidKeys,
    invalidResources: new Set([...state.invalid].filter(path => !path.startsWith('services.'))),
    namedResources: normal.namedResources,
    environmentContents: environmentContents(tree, variables, state),
    foreignKeys: foreignKeys(loaded),
    implicitDependencies: normal.implicitDependencies,
    secrets: variables.secrets,
  }
}

/**
 * Returns the documents of all files that were read. The documents of `files`, the project's own files, come last, in
 * the order of `files`.
 */
function writtenDocuments(files: readonly string[], state: LoadState): readonly MapTree[] {
  const locations = files.map(path => (path === '-' ? 'standard input' : path))
  return [...state.documents]
    .sort(([a], [b]) => locations.indexOf(a.location) - locations.indexOf(b.location))
    .flatMap(([, documents = []]) => documents.flatMap(({ tree }) => (isMap(tree) ? [tree] : [])))
}

const servicesOf = (tree: MapTree): MapTree => {
  const services = get(tree, 'services')
  return isMap(services) ? services : { ...tree, entries: new Map() }
}

interface Named {
  readonly name: string
  /** The `name` in a file, before normalization. */
  readonly written?: { readonly text: string }
  /** Set if a file, an option or a variable sets the name. Otherwise the name is derived from the folder. */
  readonly isGiven?: true
  readonly span?: Span
}

/**
 * Returns the project's name: from an option or COMPOSE_PROJECT_NAME, otherwise the last `name` in the files, otherwise
 * the name of the folder (https://docs.docker.com/compose/how-tos/project-name/).
 */
function nameOf(located: Located, state: LoadState): Named {
  let found: Named | undefined
  for (const path of located.files)
    for (const { tree } of documentsOf(path, 'the Compose file', state) ?? []) {
      const name = get(tree, 'name')
      if (name?.kind !== 'scalar' || name.type !== 'string' || name.value === '') continue
      const written = String(name.value)
      const result = written.includes('$') ? substitute(written, located.variables.lookup) : { value: written }
      // `readDocument` reports errors in the substitution.
      if ('value' in result)
        found = {
          name: normalizeProjectName(result.value),
          span: name.span,
          written: { text: written },
          isGiven: true,
        }
    }
  if (located.explicitName !== undefined)
    return { name: located.explicitName, isGiven: true, ...(found?.span && { span: found.span }) }
  if (found) return found
  return { name: normalizeProjectName(basename(located.directory)) }
}

function emptyPlace(located: Located, state: LoadState): Span | undefined {
  const [path] = located.files
  const file = path === undefined ? undefined : state.sources.open(path, 'the Compose file', state.reporter)
  return file && { file, start: 0, end: 0 }
}

/** Returns the contents of configs and secrets that come from variables, by path (`secrets.token`). */
function environmentContents(
  tree: MapTree,
  root: VariableScope,
  { scopes, assumesRequired }: Pick<LoadState, 'scopes' | 'assumesRequired'>,
): ReadonlyMap<string, string> {
  const assumed = (name: string) => (assumesRequired === 'all' ? assumedVariable(name) : undefined)
  const contents = new Map<string, string>()
  for (const section of ['configs', 'secrets']) {
    const objects = get(tree, section)
    if (!isMap(objects)) continue
    for (const [key, { value }] of objects.entries) {
      const name = get(value, 'environment')
      if (name?.kind !== 'scalar') continue
      const variables = scopeOf(`${section}.${key}`, root, scopes)(name.span)
      const variable = variables.lookup(String(name.value)) ?? assumed(String(name.value))
      if (!variable) continue
      contents.set(`${section}.${key}`, variable.value)
      const origin = `\`${name.value}\``
      if (variable.isSecret && section === 'configs')
        variables.secrets.add({ span: name.span, origin, value: variable.value })
    }
  }
  return contents
}

/** Removes the networks, volumes, secrets, configs and models that no service uses. */
export function withoutUnused(tree: MapTree): MapTree {
  const used = new Set<string>()
  const services = get(tree, 'services')
  if (isMap(services))
    for (const { value: service } of services.entries.values()) {
      for (const section of ['networks', 'models'] as const) {
        const names = get(service, section)
        if (isMap(names)) for (const name of names.entries.keys()) used.add(`${section}.${name}`)
      }
      for (const [section, key] of [
        ['secrets', 'x-secret-environment'],
        ['configs', 'x-config-environment'],
      ] as const) {
        const variables = get(service, key)
        if (!isMap(variables)) continue
        for (const { value } of variables.entries.values()) {
          const entry = entryOf(value)
          if (entry) used.add(`${section}.${entry.value}`)
        }
      }
      for (const [section, ...path] of [
        ['volumes', 'volumes'],
        ['secrets', 'secrets'],
        ['secrets', 'build', 'secrets'],
        ['configs', 'configs'],
      ] as const) {
        const mounts = get(service, ...path)
        if (!isSeq(mounts)) continue
        for (const mount of mounts.items) {
          const source = get(mount, 'source')
          const type = get(mount, 'type')
          if (
            source?.kind === 'scalar' &&
            (section !== 'volumes' || (type?.kind === 'scalar' && type.value === 'volume'))
          )
            used.add(`${section}.${source.value}`)
        }
      }
    }
  let result = tree
  for (const section of ['networks', 'volumes', 'secrets', 'configs', 'models']) {
    const entries = get(result, section)
    if (!isMap(entries)) continue
    const kept = [...entries.entries].filter(([name]) => used.has(`${section}.${name}`))
    if (kept.length < entries.entries.size) result = withEntry(result, section, { ...entries, entries: new Map(kept) })
  }
  return result
}
