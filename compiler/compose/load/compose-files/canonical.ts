import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { LongFormContext, ToLongForm } from '../../../schema/load-rules.ts'
import { PathRules } from '../../../text/path.ts'
import { type Entry, get, isMap, type MapTree, type Tree, withEntry } from '../../../text/tree.ts'
import { rulesOf } from '../../keys/rules-by-path.ts'
import { rewrite, rewriteMembers } from '../rewrite.ts'

const LONG_FORMS = rulesOf('long')

/**
 * Converts short forms to long forms. Long forms stay unchanged, so the function can run again after each file. Reports
 * and leaves out entries that it cannot convert: `invalid` lists resources (`volumes.data`), `invalidKeys` lists keys
 * by service. If `model` is only a part of the model, `whole` is the full model, whose `volumes` the short forms of
 * mounts need.
 */
export function canonical(
  model: MapTree,
  reporter: Reporter,
  whole: MapTree = model,
): {
  readonly model: MapTree
  readonly invalid: readonly string[]
  readonly invalidKeys: ReadonlyMap<string, readonly string[]>
} {
  const volumes = get(whole, 'volumes')
  const context: LongFormContext = { reporter, volumes: isMap(volumes) ? volumes : undefined }
  const apply = (rule: ToLongForm, tree: Tree) => rule(tree, context)
  const invalid: string[] = []
  const invalidKeys = new Map<string, readonly string[]>()
  let result = model
  for (const section of ['services', 'jobs', 'networks', 'volumes', 'secrets', 'configs']) {
    const entries = get(result, section)
    if (!isMap(entries)) continue
    const isOfServices = section === 'services' || section === 'jobs'
    const step = PathRules.below(PathRules.below(LONG_FORMS.start, section), '*')
    const rewritten = mapEntries(entries, (value, name) => {
      if (isOfServices && isMap(value)) {
        const { map, failed } = rewriteMembers(value, step, apply)
        if (failed.length > 0) invalidKeys.set(name, failed)
        return map
      }
      const long = isOfServices ? value : rewrite(value, step, apply)
      if (!long) invalid.push(`${section}.${name}`)
      return long
    })
    if (rewritten !== entries) result = withEntry(result, section, rewritten)
  }
  return { model: result, invalid, invalidKeys }
}

/**
 * Replaces the values of a mapping; an entry is removed if `change` returns undefined. Returns the same mapping if
 * nothing changes.
 */
function mapEntries(map: MapTree, change: (value: Tree, key: string) => Tree | undefined): MapTree {
  let entries: Map<string, Entry> | undefined
  for (const [key, { key: span, value }] of map.entries) {
    const result = change(value, key)
    if (result === value) continue
    entries ??= new Map(map.entries)
    if (result) entries.set(key, { key: span, value: result })
    else entries.delete(key)
  }
  return entries ? { ...map, entries } : map
}
