import { relative } from 'node:path/posix'
import type { KeyPath } from '../plan.ts'
import type { Held, HeldByFiles, StoredMount } from './stored-mount.ts'

/**
 * Joins a copied folder and the mounts inside it into one projected volume, because a copied folder is read-only and
 * the container runtime cannot create mount points in it. Files become files of the volume; for other mounts, the
 * volume gets an empty folder as the mount point.
 */
export function joinFolders(mounts: readonly StoredMount[]): readonly StoredMount[] {
  const folders = mounts.filter(isCopiedFolder)
  if (folders.length === 0) return mounts
  // Consider only mounts directly in a copied folder: in any other volume that is mounted there, the runtime can create
  // mount points.
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
 * Merges the files of a folder and of the mounts inside it. The innermost mount overrides the files that outer folders
 * have at its path, as with ordinary mounts.
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
    // A folder hides the content that an outer folder has at its path.
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
 * Returns the files of a ConfigMap or Secret, with their paths in the folder. Each file has the mode that it would have
 * in a volume of its own.
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
