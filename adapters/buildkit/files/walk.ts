import { type BigIntStats, type Dirent, lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { type ChangeFinder, FileChanged } from './changed.ts'
import { type FileSelection, type PathFilter, pathFilter } from './filter.ts'
import { followLinks } from './follow-links.ts'
import { isRegular, type SyncedFile, statOf } from './stat.ts'

/** Error codes that mean that a file was deleted during the walk. Such a file is skipped. */
const GONE = new Set(['ENOENT', 'ENOTDIR'])

/**
 * Yields the selected files of a folder in the order in which BuildKit compares them: the entries of a folder by the
 * bytes of their names, each folder before its content. Skips files that are deleted during the walk. Throws the error
 * of reading a folder, an Error for a name that is not UTF-8, and a `FileChanged` for a file that `isChanged` reports.
 */
export function* walk(root: string, selection: FileSelection, isChanged?: ChangeFinder): Generator<SyncedFile> {
  const followed = selection.followPaths && followLinks(root, selection.followPaths)
  const include =
    selection.followPaths && !followed ? selection.include : [...(selection.include ?? []), ...(followed ?? [])]
  const filter = pathFilter({
    ...selection,
    ...(include && include.length > 0 ? { include } : { include: undefined as never }),
  })
  yield* new Walk(root, filter, isChanged).files()
}

/**
 * Replacement character that Node.js puts in place of bytes that are not UTF-8. A file cannot be opened by a name with
 * this character. Without an error, the file would be missing from the image unnoticed.
 */
const BAD_NAME = /\ufffd/

const badName = (path: string): Error =>
  new Error(`the name of \`${path}\` is not UTF-8; rename it, or list it in .dockerignore`)

/** A folder on the path to the current file. */
interface Level {
  readonly path: string
  readonly entries: readonly Dirent[]
  /** Index in `entries` of the entry that is visited next. */
  at: number
  /**
   * The folder itself, if it has not been sent yet. An unselected folder is only sent when a selected file below it is
   * found.
   */
  unsent: SyncedFile | undefined
}

class Walk {
  readonly #root: string
  readonly #filter: PathFilter
  readonly #isChanged: ChangeFinder | undefined
  /** First path of each file with several hard links, by device and inode number. */
  readonly #named = new Map<string, string>()

  constructor(root: string, filter: PathFilter, isChanged: ChangeFinder | undefined) {
    this.#root = root
    this.#filter = filter
    this.#isChanged = isChanged
  }

  /**
   * Yields the selected files. Uses a single loop: with a generator per folder, each file would be passed up through
   * the generators of all its parent folders.
   */
  *files(): Generator<SyncedFile> {
    const levels = [this.#level('', undefined)]
    if (this.#isChanged) this.#statOf('')
    for (let level = levels[0]; level; level = levels.at(-1)) {
      const entry = level.entries[level.at++]
      if (!entry) {
        levels.pop()
        continue
      }
      const path = level.path === '' ? entry.name : `${level.path}/${entry.name}`
      const takes = this.#filter.takes(path)
      if (!takes && (!entry.isDirectory() || this.#filter.skips(path))) continue
      const stat = this.#statOf(path)
      if (!stat && BAD_NAME.test(entry.name)) throw badName(path)
      if (!stat) continue
      if (takes) {
        for (const above of levels) {
          if (above.unsent) yield above.unsent
          above.unsent = undefined
        }
        yield stat
      }
      if (entry.isDirectory()) levels.push(this.#level(path, takes ? undefined : stat))
    }
  }

  #level(path: string, unsent: SyncedFile | undefined): Level {
    return { path, entries: entriesOf(`${this.#root}/${path}`), at: 0, unsent }
  }

  #statOf(path: string): SyncedFile | undefined {
    const full = `${this.#root}/${path}`
    return unlessGone(() => {
      const stats = path === '' ? statSync(this.#root, { bigint: true }) : lstatSync(full, { bigint: true })
      if (this.#isChanged?.(path, stats)) throw new FileChanged(path)
      if (stats.isSymbolicLink()) return statOf(path, stats, { target: readlinkSync(full) })
      const first = this.#firstName(path, stats)
      return statOf(path, stats, first === undefined ? {} : { first })
    })
  }

  #firstName(path: string, stats: BigIntStats): string | undefined {
    if (!isRegular(stats) || stats.nlink < 2n) return undefined
    const key = `${stats.dev}:${stats.ino}`
    const first = this.#named.get(key)
    if (first === undefined) this.#named.set(key, path)
    return first
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  const entries = unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? []
  return entries.sort(entries.some(({ name }) => TWO_UNITS.test(name)) ? inByteOrder : inUnitOrder)
}

/** Compares names by UTF-16 code units, which sorts like UTF-8 bytes except for surrogate pairs. */
const inUnitOrder = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : 1)

const inByteOrder = (a: Dirent, b: Dirent): number => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))

const TWO_UNITS = /[\ud800-\udfff]/

function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (GONE.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
