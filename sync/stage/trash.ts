import type { SyncClock } from '../core/clock.ts'
import { type Disk, errorCode } from './disk.ts'
import { makeFolders } from './disk-files.ts'

interface Kept {
  readonly place: string
  readonly size: number
}

/**
 * Total bytes of deleted files that are kept. Files of the laptop that are deleted together are all kept, even if they
 * exceed this limit.
 */
export const KEPT_BYTES = 500e6
/** Time for which deleted files are kept, in milliseconds: 30 days. */
const KEPT_FOR = 30 * 24 * 3_600_000
/** Time in milliseconds within which deleted files are stored in one folder, and count as one deletion. */
const TOGETHER = 10_000
const PIECE = 1 << 20

/**
 * Files that were deleted on the laptop because the container has deleted them: `<folder>/<time>/<sync folder>/<path>`,
 * kept for 30 days and up to 500 MB. Above this size, the oldest files are removed, but never files of the laptop that
 * belong to the current deletion.
 */
export class Trash {
  readonly #disk: Disk
  readonly #clock: SyncClock
  /** Absolute path of the trash. */
  readonly folder: string
  /**
   * Files of earlier deletions, and files that the container had made, oldest first. Undefined until the trash is used.
   */
  #kept: Kept[] | undefined
  /** Files of the current deletion. */
  #together: Kept[] = []
  /** Time of the last deletion, in milliseconds since 1970; 0 before the first one. */
  #last = 0
  #bytes = 0
  #time = 0

  constructor(disk: Disk, clock: SyncClock, folder: string) {
    this.#disk = disk
    this.#clock = clock
    this.folder = folder
  }

  /**
   * Moves a file or link of a sync folder into the trash. `isTheirs` is true if every version came from the container.
   * Throws the errors of the file system.
   */
  take(place: string, folder: string, path: string, isTheirs = false): void {
    const entry = this.#disk.entry(place)
    if (entry === undefined || entry === 'other') return
    this.#kept ??= this.#find()
    const target = this.#placeFor(`${folder}/${path}`)
    makeFolders(this.#disk, above(target))
    this.#move(place, target, entry.kind === 'file')
    const now = this.#clock.now()
    if (now > this.#last + TOGETHER || now < this.#last) {
      this.#kept.push(...this.#together)
      this.#together = []
    }
    this.#last = now
    const size = onDisk(entry.size)
    const kept = isTheirs ? this.#kept : this.#together
    kept.push({ place: target, size })
    this.#bytes += size
    this.#forgetOld(now)
  }

  #placeFor(path: string): string {
    const now = this.#clock.now()
    if (now > this.#time + TOGETHER || now < this.#time) this.#time = now
    for (;;) {
      const place = `${this.folder}/${new Date(this.#time).toISOString().replaceAll(':', '-')}/${path}`
      if (this.#isFree(place)) return place
      this.#time++
    }
  }

  /**
   * Returns true if a file can be stored at the path. Returns false if the path already exists in the trash, or if one
   * of its parents is a file there, which was deleted a moment ago.
   */
  #isFree(place: string): boolean {
    if (this.#disk.entry(place) !== undefined) return false
    for (let at = above(place); at.length > this.folder.length; at = above(at)) {
      const entry = this.#disk.entry(at)
      if (entry !== undefined) return entry !== 'other' && entry.kind === 'folder'
    }
    return true
  }

  #move(from: string, to: string, isFile: boolean): void {
    try {
      this.#disk.rename(from, to)
    } catch (error) {
      if (errorCode(error) !== 'EXDEV') throw error
      if (isFile) this.#copy(from, to)
      this.#disk.removeFile(from)
    }
  }

  #copy(from: string, to: string): void {
    const disk = this.#disk
    const source = disk.open(from, 'read')
    try {
      const target = disk.open(to, 'create')
      try {
        const piece = Buffer.alloc(PIECE)
        for (let at = 0, read = 1; read > 0; at += read) {
          read = disk.read(source, piece, at)
          if (read > 0) disk.write(target, piece.subarray(0, read), at)
        }
      } catch (error) {
        disk.removeFile(to)
        throw error
      } finally {
        disk.close(target)
      }
    } finally {
      disk.close(source)
    }
  }

  /**
   * Finds the files of earlier sessions, oldest first, because the folder names sort chronologically. Skips files of
   * other programs, such as `.DS_Store`: they have no time, and would keep all files after them from being removed.
   */
  #find(): Kept[] {
    const found: Kept[] = []
    const look = (place: string) => {
      const entry = this.#disk.entry(place)
      if (entry === undefined || entry === 'other') return
      if (entry.kind !== 'folder') found.push({ place, size: onDisk(entry.size) })
      else for (const name of this.#namesIn(place)) look(`${place}/${name}`)
    }
    look(this.folder)
    this.#bytes = found.reduce((all, { size }) => all + size, 0)
    return found
  }

  #namesIn(place: string): readonly string[] {
    const names = [...this.#disk.list(place)].sort()
    return place === this.folder ? names.filter(name => !Number.isNaN(timeIn(name))) : names
  }

  #isOld({ place }: Kept, now: number): boolean {
    const [name = ''] = place.slice(this.folder.length + 1).split('/')
    return now - timeIn(name) > KEPT_FOR
  }

  #forgetOld(now: number): void {
    const kept = this.#kept!
    while (kept.length > 0 && (this.#bytes > KEPT_BYTES || this.#isOld(kept[0]!, now))) {
      const { place, size } = kept.shift()!
      this.#bytes -= size
      try {
        this.#disk.removeFile(place)
        for (let at = above(place); at !== this.folder; at = above(at)) this.#disk.removeFolder(at)
      } catch {
        // The folder contains other files, or another program has moved the old file.
      }
    }
  }
}

/** Returns the disk space that a file occupies, at least one block. */
const onDisk = (size: number): number => Math.max(size, 4_096)

/** Parses the time in a folder name, in milliseconds; NaN for a name that is not devctl's. */
export const timeIn = (name: string): number => Date.parse(name.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'))

const above = (path: string): string => path.slice(0, path.lastIndexOf('/'))
