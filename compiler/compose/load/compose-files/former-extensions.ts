import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { Path } from '../../../text/path.ts'
import { get, isMap, isNull, isSeq, type MapTree, type Tree, withEntry, withoutKeys } from '../../../text/tree.ts'
import { mapSection } from '../map-section.ts'
import { mergeAt } from './merge.ts'

/** Former and current names of keys that were extensions before the specification adopted them. */
const DEVELOP = { from: 'x-develop', to: 'develop' } as const
const INITIAL_SYNC = { from: 'x-initialSync', to: 'initial_sync' } as const

/**
 * Renames former extensions to their current keys. If a service has both, the current key is merged
 * over the former one.
 */
export function renameFormerExtensions(model: MapTree, reporter: Reporter): MapTree {
  return mapSection(model, 'services', (service, name) => {
    if (!isMap(service)) return service
    const renamed = rename(service, DEVELOP, (old, own) => mergeAt(['services', name, DEVELOP.to], old, own, reporter))
    const develop = get(renamed, DEVELOP.to)
    const watch = get(develop, 'watch')
    if (!isMap(develop) || !isSeq(watch)) return renamed
    const items = watch.items.map(rule => (isMap(rule) ? rename(rule, INITIAL_SYNC, (_, own) => own) : rule))
    if (items.every((rule, index) => rule === watch.items[index])) return renamed
    return withEntry(renamed, DEVELOP.to, withEntry(develop, 'watch', { ...watch, items }))
  })
}

function rename(
  map: MapTree,
  { from, to }: { readonly from: string; readonly to: string },
  merge: (old: Tree, own: Tree) => Tree,
): MapTree {
  const old = map.entries.get(from)
  if (!old) return map
  const rest = withoutKeys(map, from)
  const own = rest.entries.get(to)
  return own && !isNull(own.value)
    ? withEntry(rest, to, merge(old.value, own.value))
    : withEntry(rest, to, old.value, old.key)
}

/** Replaces the names of former extensions in a path with their current names. */
export function withCurrentNames(path: Path): Path {
  if (path[0] !== 'services' || path.length < 3) return path
  const result = [...path]
  if (result[2] === DEVELOP.from) result[2] = DEVELOP.to
  if (result[2] === DEVELOP.to && result[3] === 'watch' && result[5] === INITIAL_SYNC.from) result[5] = INITIAL_SYNC.to
  return result
}
