import { relative } from 'node:path/posix'
import type { KeyPath } from '../plan.ts'
import type { Held, HeldByFiles, StoredMount } from './stored-mount.ts'

/**
 * Joins the mounts inside a copied folder with it in one projected volume: such a folder cannot be
 * written to, so the container runtime could not create a mount point in it. Files become files of
 * the volume; for other mounts it gets the folder that they are mounted over.
 */
export function joinFolders(mounts: readonly StoredMount[]): readonly StoredMount[] {
  const folders = mounts.filter(isCopiedFolder)
  if (folders.length === 0) return mounts
  // Only what lies in the folder itself: in a volume that is mounted there, the runtime can make a
  // place.
  const folderOf = (mount: StoredMount): StoredMount | undefined => {
    const [nearest] = mounts
      .filter(({ target }) => isBelow(mount.target, target))
      .sort((a, b) => b.target.length - a.target.length)
    return nearest && isCopiedFolder(nearest) ? (folderOf(nearest) ?? nearest) : undefined
  }
  const inner = new Map<StoredMount, StoredMount[]>()
  const joined = new Set<StoredMount>()
  for (const mount of mounts) {
    const folder = folderOf(mount)
    if (!folder) continue
    inner.set(folder, [...(inner.get(folder) ?? []), mount])
    if (isFiles(mount.held)) joined.add(mount)
  }
  return mounts
    .filter(mount => !joined.has(mount))
    .map(mount => {
      const within = inner.get(mount)
      return within && isFiles(mount.held) ? { ...mount, held: project(mount, mount.held, within) } : mount
    })
}

const isFiles = (held: Held): held is HeldByFiles => held.kind === 'configMap' || held.kind === 'secret'

const isCopiedFolder = ({ held }: StoredMount): boolean => isFiles(held) && held.subPath === undefined

const isBelow = (path: string, folder: string): boolean => path.startsWith(folder === '/' ? '/' : `${folder}/`)

/**
 * The mount nearest to a path wins over what the folders around it hold there, as with ordinary
 * mounts.
 */
function project(folder: StoredMount, held: HeldByFiles, within: readonly StoredMount[]): Held {
  const parts = [...within].sort((a, b) => b.target.length - a.target.length)
  const taken = new Set<string>()
  const places: string[] = []
  const covered: string[] = []
  const sources: (HeldByFiles & { readonly items: readonly KeyPath[] })[] = []
  const add = (one: HeldByFiles, at: string) => {
    const items = itemsOf(one, at).filter(
      ({ path }) =>
        !taken.has(path) &&
        !covered.some(other => isBelow(path, other)) &&
        ![...taken].some(other => isBelow(path, other) || isBelow(other, path)),
    )
    for (const { path } of items) taken.add(path)
    // A folder hides what a folder around it holds there.
    if (one.subPath === undefined) covered.push(at)
    if (items.length > 0) sources.push({ ...one, items })
  }
  for (const { held: inner, target } of parts) {
    const at = relative(folder.target, target)
    if (isFiles(inner)) add(inner, at)
    else places.push(at)
  }
  add(held, '')
  const isMade = (place: string) => [...taken].some(path => isBelow(path, place))
  const missing = places.filter(place => !taken.has(place) && !isMade(place))
  return { kind: 'projected', name: held.name, sources: sources.reverse(), folders: [...new Set(missing)].sort() }
}

/**
 * The files of a source, with the paths that they have in the folder and the modes that its volume
 * would have given them.
 */
function itemsOf({ items, subPath, mode }: HeldByFiles, at: string): readonly KeyPath[] {
  if (subPath !== undefined) return [{ key: subPath, path: at, ...(mode !== undefined && { mode }) }]
  return (items ?? []).map(item => {
    const own = item.mode ?? mode
    return {
      key: item.key,
      path: at === '' ? item.path : `${at}/${item.path}`,
      ...(own !== undefined && { mode: own }),
    }
  })
}
