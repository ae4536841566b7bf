import { get, isMap, type MapTree, type Tree, withEntry } from '../../text/tree.ts'

/** Applies `change` to every entry of a section. Returns the same model if no entry changes. */
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
