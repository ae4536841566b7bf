import { type Entry, get, isMap, type MapTree, withEntry } from '../../../text/tree.ts'
import { SECTIONS } from '../../keys/sections.ts'

/**
 * Returns the part of a merged model that a document changes: the services and resources that the document names, and
 * all other top-level keys. Entries can be checked independently of each other, and the rest was checked after earlier
 * documents. Checking only this part avoids work that grows with the square of the number of documents.
 */
export function changedPart(merged: MapTree, document: MapTree): MapTree {
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

/**
 * Puts a part of the model back after it was changed: `taken` is the part as it was taken out. Removes the entries that
 * are in `taken` but no longer in `part`.
 */
export function replacePart(merged: MapTree, taken: MapTree, part: MapTree): MapTree {
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
