import { type BigIntStats, type Dirent, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { type FileSelection, type PathFilter, pathFilter } from './filter.ts'
import { followLinks } from './follow-links.ts'
import { isRegular, type SyncedFile, statOf } from './stat.ts'

/** Files that vanish while a folder is walked are no failure. */
const GONE = new Set(['ENOENT', 'ENOTDIR'])

/**
 * The files of a folder that a selection asks for, in the order in which BuildKit compares them: the
 * entries of a folder by the bytes of their names, each folder before what is in it. Throws what
 * reading a folder throws, except for files that are gone meanwhile.
 */
export function* walk(root: string, selection: FileSelection): Generator<SyncedFile> {
  const followed = selection.followPaths && followLinks(root, selection.followPaths)
  const include =
    selection.followPaths && !followed ? selection.include : [...(selection.include ?? []), ...(followed ?? [])]
  const filter = pathFilter({
    ...selection,
    ...(include && include.length > 0 ? { include } : { include: undefined as never }),
  })
  yield* new Walk(root, filter).folder('', [])
}

/** A folder that is sent only when something in it is. */
interface Waiting {
  readonly stat: SyncedFile
  sent: boolean
}

class Walk {
  readonly #root: string
  readonly #filter: PathFilter
  /** The first path of every file with several names. */
  readonly #named = new Map<string, string>()

  constructor(root: string, filter: PathFilter) {
    this.#root = root
    this.#filter = filter
  }

  *folder(path: string, parents: readonly Waiting[]): Generator<SyncedFile> {
    for (const entry of entriesOf(`${this.#root}/${path}`)) {
      const below = path === '' ? entry.name : `${path}/${entry.name}`
      const takes = this.#filter.takes(below)
      if (!takes && (!entry.isDirectory() || this.#filter.skips(below))) continue
      const stat = this.#statOf(below)
      if (!stat) continue
      if (takes) {
        yield* unsent(parents)
        yield stat
      }
      if (entry.isDirectory()) yield* this.folder(below, [...parents, { stat, sent: takes }])
    }
  }

  #statOf(path: string): SyncedFile | undefined {
    const full = `${this.#root}/${path}`
    return unlessGone(() => {
      const stats = lstatSync(full, { bigint: true })
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

function* unsent(folders: readonly Waiting[]): Generator<SyncedFile> {
  for (const folder of folders) {
    if (folder.sent) continue
    folder.sent = true
    yield folder.stat
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  const entries = unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? []
  return entries.sort(inByteOrder)
}

/** Code units are in the order of bytes, except for those of characters of two units. */
function inByteOrder(a: Dirent, b: Dirent): number {
  if (TWO_UNITS.test(a.name) || TWO_UNITS.test(b.name)) return Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))
  return a.name < b.name ? -1 : 1
}

const TWO_UNITS = /[\ud800-\udfff]/

function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (GONE.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
