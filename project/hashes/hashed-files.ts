import type { BigIntStats, Stats } from 'node:fs'

/** Modification and change time of a file. No program can set the change time. */
type Times = Pick<Stats, 'mtimeMs' | 'ctimeMs'>

/** Files whose content is part of the hash of a build. */
interface HashedFiles {
  /** Times of each file by its path below the folder; the path of the folder itself is empty. */
  readonly times: Map<string, Times>
  readonly digest: string
  /** Reads and hashes the files again. */
  readonly again: () => HashedFiles
}

/**
 * Last hashes of this process, by folder and by kind of content. The tag of an image stands for the hashed content, but
 * minutes may pass until a builder receives the files. The hashes then show if the files have changed.
 */
const hashed = new Map<string, Map<string, HashedFiles>>()

/**
 * Calls `read`, which hashes files below a folder, adds the time of each file to its argument, and returns the digest
 * of all. Returns this digest, and remembers it with the times, so that `changeFinder` can tell whether a file has
 * changed. `what` names the kind of content: each kind in a folder has its own digest.
 */
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
 * Returns a function that reports if a file below a folder has changed since it was hashed; undefined for a folder
 * without hashed files. If the times of a file differ, all files that were hashed together with it are hashed again,
 * because programs also rewrite files with unchanged content.
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

/** Compares times with a tolerance: the number has a precision of only a quarter of a microsecond. */
const isSame = (milliseconds: number, nanoseconds: bigint): boolean =>
  Math.abs(milliseconds - Number(nanoseconds / 1000n) / 1000) < 0.002
