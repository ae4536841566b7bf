import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { ModelPath } from '../../../schema/model-path.ts'
import { isMap, isSeq, type MapTree, type Tree } from '../../../text/tree.ts'
import { canonical } from '../compose-files/canonical.ts'
import { decodeModel } from '../decode.ts'
import { isServiceSection } from '../service-sections.ts'
import { validate } from './validate.ts'

type Keys = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Reports further errors in service keys that already have an error in one part. The model drops such a key completely,
 * so no later check would see its other parts. Checks types, allowed values and the content of text. `model` lacks the
 * parts in error, so no key is reported as missing.
 */
export function checkRest(model: MapTree, keys: Keys, reporter: Reporter): void {
  const rest = only(model, keys)
  if (!rest) return
  const faults = validate(rest, reporter, { isPartial: true })
  checkTexts(withoutFaults(rest, faults.paths), reporter)
}

/**
 * Reports errors in the content of text, in keys whose types and allowed values are already checked. Skips the values
 * at `paths`, which are in error.
 */
export function checkRestOfTexts(model: MapTree, keys: Keys, paths: readonly ModelPath[], reporter: Reporter): void {
  const rest = only(model, keys)
  if (rest) checkTexts(withoutFaults(rest, paths), reporter)
}

function checkTexts(rest: Tree | undefined, reporter: Reporter): void {
  if (isMap(rest)) decodeModel(canonical(rest, reporter).model, reporter)
}

/**
 * Returns a model that has only the keys in `keys`, which are grouped by service or job. Returns undefined if there are
 * none.
 */
function only(model: MapTree, keys: Keys): MapTree | undefined {
  if (keys.size === 0) return undefined
  const sections = [...model.entries].flatMap(([section, entry]) =>
    isServiceSection(section) && isMap(entry.value)
      ? [[section, { ...entry, value: onlyOf(entry.value, keys) }] as const]
      : [],
  )
  return sections.length === 0 ? undefined : { ...model, entries: new Map(sections) }
}

/** Returns the services or jobs that have keys in `keys`, with only these keys. */
function onlyOf(services: MapTree, keys: Keys): MapTree {
  const entries = [...services.entries].filter(([name]) => keys.has(name))
  return {
    ...services,
    entries: new Map(entries.map(([name, entry]) => [name, { ...entry, value: part(entry.value, keys.get(name)!) }])),
  }
}

const part = (service: Tree, keys: ReadonlySet<string>): Tree =>
  isMap(service) ? { ...service, entries: new Map([...service.entries].filter(([key]) => keys.has(key))) } : service

/** Removes the values in error. Keeps a job without `triggers`, which are absent here because they are valid. */
const withoutFaults = (rest: MapTree, paths: readonly ModelPath[]): Tree | undefined =>
  withoutPaths(
    rest,
    paths.filter(path => path.length !== 3 || path[0] !== 'jobs' || path[2] !== 'triggers'),
  )

/**
 * Returns a tree without the values at the paths; undefined if the tree itself is removed. A path that ends in an
 * absent key stands for a missing key, so the mapping that lacks the key is removed.
 */
function withoutPaths(tree: Tree, paths: readonly ModelPath[]): Tree | undefined {
  if (paths.length === 0) return tree
  if (paths.some(path => path.length === 0) || tree.kind === 'scalar') return undefined
  const below = new Map<string | number, ModelPath[]>()
  for (const [head, ...rest] of paths) below.set(head!, [...(below.get(head!) ?? []), rest])
  if (isSeq(tree)) {
    const items = tree.items.flatMap((item, index) => withoutPaths(item, below.get(index) ?? []) ?? [])
    return { ...tree, items }
  }
  const isIncomplete = [...below].some(([key, rest]) => rest.some(path => path.length === 0) && !hasKey(tree, key))
  if (isIncomplete) return undefined
  const entries = [...tree.entries].flatMap(([key, entry]) => {
    const value = withoutPaths(entry.value, below.get(key) ?? [])
    return value ? [[key, { ...entry, value }] as const] : []
  })
  return { ...tree, entries: new Map(entries) }
}

const hasKey = (tree: MapTree, key: string | number): boolean => tree.entries.has(String(key))
