import { get, isMap, isScalar, type MapTree, type ScalarTree, type Tree } from '../../../text/tree.ts'
import type { EntryVariable } from '../../project.ts'
import type { ReadContext } from '../context.ts'
import { entries, sortByName } from '../tree-values.ts'

/** Reads variables whose values are entries of a top-level section, in the short and the long form, sorted by name. */
export function readEntryVariables(service: MapTree, _: ReadContext, section: string): readonly EntryVariable[] {
  const found = [...entries(service, section)].flatMap(([name, { key, value }]): readonly EntryVariable[] => {
    const entry = entryOf(value)
    const chosen = get(value, 'key')
    const objectKey = isScalar(chosen) ? { objectKey: { value: String(chosen.value), span: chosen.span } } : {}
    return entry ? [{ name, value: String(entry.value), span: entry.span, key, ...objectKey }] : []
  })
  return sortByName(found)
}

/**
 * Returns the name of the top-level entry that a variable refers to: the value of the variable or, in the long form,
 * its `source`. Undefined if there is none.
 */
export function entryOf(variable: Tree): ScalarTree | undefined {
  const source = isMap(variable) ? get(variable, 'source') : variable
  return isScalar(source) ? source : undefined
}
