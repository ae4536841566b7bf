import type { SyncClock } from './clock.ts'
import { type Disk, errorCode } from './disk.ts'
import { makeFolders } from './disk-files.ts'

interface Kept {
  readonly place: string
  readonly size: number
}

const FILES = 1_000
const BYTES = 500e6
/** Milliseconds: what is deleted within that time is in one folder. */
const TOGETHER = 10_000
const PIECE = 1 << 20

/**
 * Files that were deleted on the laptop because the container has deleted them:
 * `<folder>/<time>/<sync folder>/<path>`, the newest 1,000, and 500 MB.
 */
export class DeletedFiles {
  readonly #disk: Disk
  readonly #clock: SyncClock
  readonly #folder: string
  /** The oldest first. */
  #kept: Kept[] | undefined
  #bytes = 0
  #time = 0

  constructor(disk: Disk, clock: SyncClock, folder: string) {
    this.#disk = disk
    this.#clock = clock
    this.#folder = folder
  }

  /** Moves a file or a link of a sync folder there. Throws the errors of the file system. */
  take(place: string, folder: string, path: string): void {
    const entry = this.#disk.entry(place)
    if (entry === undefined || entry === 'other') return
    this.#kept ??= this.#find()
    const target = this.#placeFor(`${folder}/${path}`)
    makeFolders(this.#disk, above(target))
    this.#move(place, target, entry.kind === 'file')
    this.#kept.push({ place: target, size: entry.size })
    this.#bytes += entry.size
    this.#forgetOld()
  }

  #placeFor(path: string): string {
    const now = this.#clock.now()
    if (now > this.#time + TOGETHER || now < this.#time) this.#time = now
    for (;;) {
      const place = `${this.#folder}/${new Date(this.#time).toISOString().replaceAll(':', '-')}/${path}`
      if (this.#isFree(place)) return place
      this.#time++
    }
  }

  /** A folder of today may have been a file a moment ago. */
  #isFree(place: string): boolean {
    if (this.#disk.entry(place) !== undefined) return false
    for (let at = above(place); at.length > this.#folder.length; at = above(at)) {
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

  /** Those of earlier sessions. Names of times are in their order. */
  #find(): Kept[] {
    const found: Kept[] = []
    const look = (place: string) => {
      const entry = this.#disk.entry(place)
      if (entry === undefined || entry === 'other') return
      if (entry.kind !== 'folder') found.push({ place, size: entry.size })
      else for (const name of [...this.#disk.list(place)].sort()) look(`${place}/${name}`)
    }
    look(this.#folder)
    this.#bytes = found.reduce((all, { size }) => all + size, 0)
    return found
  }

  /** The last one stays, whatever its size. */
  #forgetOld(): void {
    const kept = this.#kept!
    while (kept.length > 1 && (kept.length > FILES || this.#bytes > BYTES)) {
      const { place, size } = kept.shift()!
      this.#bytes -= size
      try {
        this.#disk.removeFile(place)
        for (let at = above(place); at !== this.#folder; at = above(at)) this.#disk.removeFolder(at)
      } catch {
        // A folder that holds others, or an old file that somebody has taken.
      }
    }
  }
}

const above = (path: string): string => path.slice(0, path.lastIndexOf('/'))
