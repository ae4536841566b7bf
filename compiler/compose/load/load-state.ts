import type { Reporter } from '../../diagnostics/reporter.ts'
import type { CompilerHost } from '../../host.ts'
import type { LoadOptions, SecretRules } from '../../options.ts'
import type { YamlDocument } from '../../text/document-reader.ts'
import type { SourceFile, Span } from '../../text/source.ts'
import { get, isMap, type MapTree, withEntry, withoutKeys } from '../../text/tree.ts'
import { mapSection } from './map-section.ts'
import type { Sources } from './sources.ts'
import type { VariableScope } from './variables.ts'

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
  readonly assumesRequired?: LoadOptions['assumesRequired']
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

/** Notes that a service has errors: the keys are taken out, and what is missing now is no mistake of its own. */
export function lose(service: string, keys: Iterable<string>, { lost }: LoadState): void {
  const known = lost.get(service) ?? new Set()
  for (const key of keys) known.add(key)
  lost.set(service, known)
}

/** Takes keys in error out of the services of a model. */
export function withoutLost(model: MapTree, lost: ReadonlyMap<string, ReadonlySet<string>>, state: LoadState): MapTree {
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
