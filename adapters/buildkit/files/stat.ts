import type { BigIntStats } from 'node:fs'

/** A file of the context, in the form sent to BuildKit (`fsutil.types.Stat`). */
export interface SyncedFile {
  /** Path relative to the context, with `/` as separator. */
  readonly path: string
  /** Type and permissions as bits of Go's `fs.FileMode` (https://pkg.go.dev/io/fs#FileMode). */
  readonly mode: number
  readonly size: number
  /** Modification time in nanoseconds since 1970. */
  readonly modTime: bigint
  /** Target of a symbolic link, or the first path of a hard link. */
  readonly linkname: string
  readonly devmajor?: number
  readonly devminor?: number
}

const TYPE = 0o170000
const REGULAR = 0o100000
const FOLDER = 0o040000
const LINK = 0o120000
const PIPE = 0o010000
const CHARACTER_DEVICE = 0o020000
const BLOCK_DEVICE = 0o060000

/** Go's mode bits for file types; a regular file has none. */
const GO_TYPES: ReadonlyMap<number, number> = new Map([
  [REGULAR, 0],
  [FOLDER, 2 ** 31],
  [LINK, 2 ** 27],
  [PIPE, 2 ** 25],
  [BLOCK_DEVICE, 2 ** 26],
  [CHARACTER_DEVICE, 2 ** 26 + 2 ** 21],
])

/**
 * Mode bits of Unix above the permissions, and their equivalents in Go: set-user-ID, set-group-ID and the sticky bit.
 */
const SPECIAL: readonly (readonly [unix: number, go: number])[] = [
  [0o4000, 2 ** 23],
  [0o2000, 2 ** 22],
  [0o1000, 2 ** 20],
]

export const isRegular = (stats: BigIntStats): boolean => (Number(stats.mode) & TYPE) === REGULAR

const TYPE_BITS = 2 ** 31 + 2 ** 27 + 2 ** 26 + 2 ** 25 + 2 ** 24 + 2 ** 21

/** Returns true if a Go file mode describes a regular file. */
export const isRegularMode = (mode: number): boolean => (mode & TYPE_BITS) === 0

/**
 * Returns the entry that is sent to BuildKit for a file. Root owns every file, as with `docker build`. `target` is the
 * target of a symbolic link. If the path is a hard link to a file that was sent before, `first` is the path that was
 * sent. Returns undefined for sockets, which an image cannot contain.
 */
export function statOf(
  path: string,
  stats: BigIntStats,
  link: { target?: string; first?: string },
): SyncedFile | undefined {
  const mode = Number(stats.mode)
  const type = GO_TYPES.get(mode & TYPE)
  if (type === undefined) return undefined
  const hasSize = (mode & TYPE) === REGULAR && link.first === undefined
  const file = {
    path,
    mode: type + (mode & 0o7000 ? specialBits(mode) : 0) + (mode & 0o777),
    size: hasSize ? Number(stats.size) : 0,
    modTime: stats.mtimeNs,
    linkname: link.target ?? link.first ?? '',
  }
  const isDevice = (mode & TYPE) === CHARACTER_DEVICE || (mode & TYPE) === BLOCK_DEVICE
  return isDevice ? { ...file, ...deviceNumbers(stats.rdev) } : file
}

const specialBits = (mode: number): number => SPECIAL.reduce((sum, [unix, go]) => (mode & unix ? sum + go : sum), 0)

/** Splits a device number as Linux encodes it (makedev(3)). */
function deviceNumbers(device: bigint): { devmajor: number; devminor: number } {
  return {
    devmajor: Number(((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn)),
    devminor: Number((device & 0xffn) | ((device >> 12n) & ~0xffn)),
  }
}
