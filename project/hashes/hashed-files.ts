import type { BigIntStats, Stats } from 'node:fs'

/** When a file was changed. No program can set the second. */
type Times = Pick<Stats, 'mtimeMs' | 'ctimeMs'>

/** Files whose content is in the hash of a build. */
interface HashedFiles {
  /** Times of each file by its path below the folder; the path of the folder itself is empty. */
  readonly times: Map<string, Times>
  readonly digest: string
  /** Reads them again. */
  readonly again: () => HashedFiles
}

/**
 * Last hashes of this process, by folder and by what was hashed of it: the tag of an image stands for these contents,
 * and minutes may pass until a builder gets the files.
 */
const hashed = new Map<string, Map<string, HashedFiles>>()

/** Hashes files below a folder, and remembers when they were changed. `read` gives their digest. */
export function hashFiles(folder: string, what: string, read: (times: HashedFiles['times']) => string): string {
  const hash = (): HashedFiles => {
    const times: HashedFiles['times'] = new Map()
    const digest = read(times)
    return { times, digest, again: hash }
  }
  const found = hash()
  const ofFolder = hashed.get(folder) ?? new Map<string, HashedFiles>()
  hashed.set(folder, ofFolder.set(what, found))
  return found.digest
}

/**
 * Returns a function that reports whether a file below a folder has changed since it was hashed. Undefined for a folder
 * without hashed files. If the times of a file differ, all files that were hashed with it are hashed again: programs
 * rewrite files with unchanged content, and files come and go.
 */
export function changeFinder(folder: string): ((path: string, stats: BigIntStats) => boolean) | undefined {
  const ofFolder = hashed.get(folder)
  return ofFolder && ((path, stats) => [...ofFolder].some(([what]) => isChanged(ofFolder, what, path, stats)))
}

function isChanged(all: Map<string, HashedFiles>, what: string, path: string, stats: BigIntStats): boolean {
  const { times, digest, again } = all.get(what)!
  const before = times.get(path)
  if (!before || (isSame(before.ctimeMs, stats.ctimeNs) && isSame(before.mtimeMs, stats.mtimeNs))) return false
  const now = again()
  if (now.digest !== digest) return true
  all.set(what, now)
  return false
}

/** The number has a quarter of a microsecond. */
const isSame = (milliseconds: number, nanoseconds: bigint): boolean =>
  Math.abs(milliseconds - Number(nanoseconds / 1000n) / 1000) < 0.002
