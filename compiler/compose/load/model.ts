import type { YamlDocument } from '../../text/document-reader.ts'
import { get, isMap, type MapTree, type Tree, withEntry, withoutKeys } from '../../text/tree.ts'
import { isOutsideHooks, rulesOf } from '../keys/rules-by-path.ts'
import { checkRestOfTexts } from './checks/check-rest.ts'
import { checkResources } from './checks/resource-rules.ts'
import { validate } from './checks/validate.ts'
import { canonical } from './compose-files/canonical.ts'
import { changedPart, replacePart } from './compose-files/changed-part.ts'
import { documentsOf, readDocument } from './compose-files/documents.ts'
import { applyExtends, type ExtendsCache } from './compose-files/extends.ts'
import { applyIncludes } from './compose-files/include.ts'
import { mergeModels } from './compose-files/merge.ts'
import { Resets } from './compose-files/reset.ts'
import { resolvePaths } from './compose-files/resolve-paths.ts'
import {
  type LoadState,
  markBrokenSection,
  markInvalidKeys,
  type ProjectScope,
  withoutInvalid,
  withoutInvalidKeys,
} from './load-state.ts'
import { pairOfName } from './named-values.ts'
import { removeDuplicates } from './remove-duplicates.ts'
import { rewrite } from './rewrite.ts'
import { mapServicesAndJobs } from './service-sections.ts'
import type { VariableScope } from './variables.ts'

/**
 * Loads the files of a project and merges their documents in order. Returns the canonical model, with absolute paths
 * and without the parts in error, which are reported. Returns undefined if no document could be read.
 */
export function loadModel(files: readonly string[], scope: ProjectScope, state: LoadState): MapTree | undefined {
  const extendsCache: ExtendsCache = new Map()
  let model: MapTree | undefined
  for (const path of files)
    for (const [index, document] of (documentsOf(path, 'the Compose file', state) ?? []).entries()) {
      // Each document is merged with all earlier ones, so many documents are expensive.
      if (index > 0) state.reporter.budget.spend('loads', 1, document.tree?.span)
      model = addDocument(model, document, { path, scope, extendsCache }, state)
    }
  if (!model) return undefined
  model = withDefaults(model)
  const invalid = checkResources(model, state.reporter, { isPartial: state.incomplete })
  for (const name of invalid.services) markInvalidKeys(name, [], state)
  model = withoutInvalid(model, invalid.resources, state)
  model = resolvePaths(model, { directory: scope.directory, host: state.host })
  return resolveListedEnvironment(model, scope.variables)
}

/** The file of a document, and the data that all documents of a project share. */
interface DocumentContext {
  /** Absolute path of the file. */
  readonly path: string
  readonly scope: ProjectScope
  readonly extendsCache: ExtendsCache
}

function addDocument(
  base: MapTree | undefined,
  document: YamlDocument,
  { path, scope, extendsCache }: DocumentContext,
  state: LoadState,
): MapTree | undefined {
  const { reporter } = state
  const own = readDocument(document, scope.variables, state)
  if (!own) return base
  const resets = new Resets(document.resets, state.dropped)
  let added = applyIncludes(own, { ...scope, including: [...scope.including, path] }, resets, state, loadModel)
  const before = base && resets.applyTo(base)
  added = applyExtends(added, { path, scope, resets, cache: extendsCache }, state)
  if (!state.incomplete) resets.reportUnused(reporter)
  added = withoutInvalid(added, [], state)
  if (!before) return toCanonical(added, added, state)
  const merged = mergeModels(before, added, reporter)
  const part = changedPart(merged, added)
  return withoutInvalid(replacePart(merged, part, toCanonical(part, merged, state)), [], state)
}

/** Validates a part of the model and converts it to the canonical form, without the parts in error. */
function toCanonical(part: MapTree, whole: MapTree, state: LoadState): MapTree {
  const { reporter } = state
  let model = removeDuplicates(part)
  const faults = validate(model, reporter, { isPartial: state.incomplete })
  for (const key of faults.topLevel) markBrokenSection(key, state)
  model = withoutInvalid(withoutKeys(model, ...faults.topLevel), [...faults.entries], state)
  checkRestOfTexts(model, faults.keys, faults.paths, reporter)
  model = withoutInvalidKeys(model, faults.keys, state)
  const long = canonical(model, reporter, whole)
  for (const [name, keys] of long.invalidKeys) markInvalidKeys(name, keys, state)
  return removeDuplicates(withoutInvalid(long.model, long.invalid, state))
}

/** Adds Compose's default values to a canonical model. */
function withDefaults(model: MapTree): MapTree {
  // `rewrite` returns a mapping for a mapping.
  return rewrite(model, DEFAULTS.start, (complete, tree) => complete(tree)) as MapTree
}

const DEFAULTS = rulesOf('defaults', isOutsideHooks)

/** Sets names without `=` in an `environment` list to the value of the project's variable. */
function resolveListedEnvironment(model: MapTree, variables: VariableScope): MapTree {
  const resolve = (service: Tree): Tree => {
    const environment = get(service, 'environment')
    if (environment?.kind !== 'seq' || !isMap(service)) return service
    const items = environment.items.map(item => (item.kind === 'scalar' && pairOfName(item, variables)) || item)
    const isChanged = items.some((item, index) => item !== environment.items[index])
    return isChanged ? withEntry(service, 'environment', { ...environment, items }) : service
  }
  return mapServicesAndJobs(model, resolve)
}
