import { type Entry, get, isMap, type MapTree, withEntry } from '../../text/tree.ts'

/** Top-level keys whose values have names: what concerns one name concerns no other. */
const SECTIONS = ['services', 'networks', 'volumes', 'secrets', 'configs', 'models', 'jobs']

/**
 * The part of a merged model that a document has a say in: the services and resources that it names, and all other top-level keys. What is in the rest
 * was checked and made long with the documents before, so that many documents need not be many times the work.
 */
export function touchedPart(merged: MapTree, document: MapTree): MapTree {
  let part = merged
  for (const name of SECTIONS) {
    const section = get(merged, name)
    const named = get(document, name)
    if (!isMap(section) || (named && !isMap(named))) continue
    const entries = new Map<string, Entry>()
    for (const key of named?.entries.keys() ?? []) {
      const entry = section.entries.get(key)
      if (entry) entries.set(key, entry)
    }
    if (entries.size < section.entries.size) part = withEntry(part, name, { ...section, entries })
  }
  return part
}

/** The merged model with a part in place of what it was taken from; what the part has lost, the model loses. */
export function withPart(merged: MapTree, taken: MapTree, part: MapTree): MapTree {
  let result = part
  for (const name of SECTIONS) {
    const section = get(merged, name)
    const from = get(taken, name)
    const to = get(part, name)
    if (!isMap(section) || !isMap(from) || !isMap(to) || from.entries.size === section.entries.size) continue
    const entries = new Map(section.entries)
    for (const key of from.entries.keys()) {
      const entry = to.entries.get(key)
      if (entry) entries.set(key, entry)
      else entries.delete(key)
    }
    result = withEntry(result, name, { ...section, entries })
  }
  return result
}
