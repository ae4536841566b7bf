import type { Reporter } from '../../diagnostics/reporter.ts'
import { suggest } from '../../diagnostics/suggest.ts'
import type { CompilerHost } from '../../host.ts'
import type { LoadOptions, SecretRules } from '../../options.ts'
import type { YamlDocument } from '../../text/document-reader.ts'
import type { SourceFile, Span } from '../../text/source.ts'
import { get, isMap, type MapTree, withEntry, withoutKeys } from '../../text/tree.ts'
import { isTopLevelKey, SECTIONS } from '../keys/sections.ts'
import type { Sources } from './compose-files/sources.ts'
import type { DroppedValue } from './loaded.ts'
import type { Scopes } from './scopes.ts'
import { mapServicesAndJobs } from './service-sections.ts'
import type { VariableScope } from './variables.ts'

/** The state that all files of a load share: the project's own files, included files and extended files. */
export interface LoadState {
  readonly host: CompilerHost
  readonly sources: Sources
  readonly reporter: Reporter
  /**
   * Services and resources in error (`services.web`). They are removed from the model and never reported as undefined.
   */
  readonly invalid: Set<string>
  /** Keys in error, by service or job. They are removed so that the rest can be checked. `*` stands for any key. */
  readonly invalidKeys: Map<string, Set<string>>
  /** The variables of included projects. */
  readonly scopes: Scopes
  /**
   * True if a file, or the services of a file, could not be read. A definition that seems to be missing may be in that
   * file, so only errors that do not depend on other definitions are reported.
   */
  incomplete: boolean
  /** Sections that could not be read completely (`volumes`). It is not known which resources they define. */
  readonly brokenSections: Set<string>
  /** The parsed documents, by file. */
  readonly documents: Map<SourceFile, readonly YamlDocument[] | undefined>
  /** Positions at which a manifest names the files, by path. */
  readonly places: ReadonlyMap<string, Span>
  /** Rules that take values from Secrets. Those values need not be set. */
  readonly secretRules?: SecretRules
  readonly assumesRequired?: LoadOptions['assumesRequired']
  /** Values that `!reset` and `!override` have removed. */
  readonly dropped: DroppedValue[]
  /** Missing env files and label files by path. */
  readonly missingFiles: Map<string, MissingFile>
}

/** A missing file and its references. */
export interface MissingFile {
  /** The kind of file for messages: `the env file`. */
  readonly what: string
  readonly places: Span[]
}

/** A project: the root project or an included project. */
export interface ProjectScope {
  /** Absolute path of the project. */
  readonly directory: string
  readonly variables: VariableScope
  /** The chain of including files, for the detection of cycles. */
  readonly including: readonly string[]
}

/**
 * Records keys of a service that are in error, so that later checks do not report them as missing.
 */
export function markInvalidKeys(service: string, keys: Iterable<string>, { invalidKeys }: LoadState): void {
  const known = invalidKeys.get(service) ?? new Set()
  for (const key of keys) known.add(key)
  invalidKeys.set(service, known)
}

/**
 * Records a top-level key in error. An unknown key may be a misspelling of a similarly named section. If no section has
 * a similar name, the key may be a service with the wrong indentation, or any section of resources.
 */
export function markBrokenSection(key: string, state: LoadState): void {
  const section = isTopLevelKey(key) ? key : suggest(key, [...SECTIONS, 'include'])
  if (section === 'services' || section === 'include') state.incomplete = true
  else if (section === undefined) {
    for (const one of SECTIONS) if (one !== 'services') state.brokenSections.add(one)
    state.invalid.add(`services.${key}`)
  } else if (SECTIONS.has(section)) state.brokenSections.add(section)
}

/**
 * True if a service or resource (`services.web`) is in error, or if its section could not be read completely. The path
 * of a service also stands for the job with this name.
 */
export function isInvalidPath(path: string, { invalid, brokenSections }: LoadState): boolean {
  const section = path.slice(0, path.indexOf('.'))
  if (invalid.has(path) || brokenSections.has(section)) return true
  return section === 'services' && invalid.has(path.replace('services', 'jobs'))
}

/** Records keys in error, and removes them from the services and jobs of a model. */
export function withoutInvalidKeys(
  model: MapTree,
  invalidKeys: ReadonlyMap<string, ReadonlySet<string>>,
  state: LoadState,
): MapTree {
  if (invalidKeys.size === 0) return model
  for (const [name, keys] of invalidKeys) markInvalidKeys(name, keys, state)
  return mapServicesAndJobs(model, (service, name) =>
    isMap(service) ? withoutKeys(service, ...(invalidKeys.get(name) ?? [])) : service,
  )
}

/** Records services and resources in error, and removes all recorded services and resources from a model. */
export function withoutInvalid(model: MapTree, invalid: readonly string[], state: LoadState): MapTree {
  for (const name of invalid) state.invalid.add(name)
  if (state.invalid.size === 0) return model
  const bySection = new Map<string, string[]>()
  for (const name of state.invalid) {
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
