import type { Disk } from '../stage/disk.ts'
import { makeFolders } from '../stage/disk-files.ts'
import { timeIn } from '../stage/trash.ts'
import { TEMPORARY } from '../stage/writer.ts'

/**
 * Change of the container that lost a conflict with a change of the laptop. It is saved on the laptop, outside the sync
 * folder.
 */
export interface SyncConflict {
  readonly folder: string
  readonly path: string
  /** Path of the saved file. */
  readonly kept: string
  /** Time of the conflict, in milliseconds since 1970. */
  readonly time: number
}

const KEPT = 200
/** Time for which all conflicts are kept, however many there are, in milliseconds: one day. */
const KEPT_FOR = 24 * 3_600_000

/**
 * Folder for the files that lost a conflict: `<folder>/<time>/<sync folder>/<path>`. Keeps the last 200 conflicts,
 * and all conflicts of the last day: a change of branch may cause thousands at once. Ignores files of other programs.
 */
export class ConflictFolder {
  readonly #disk: Disk
  readonly #folder: string
  readonly #times: string[]
  #last = 0

  constructor(disk: Disk, folder: string) {
    this.#disk = disk
    this.#folder = folder
    this.#times = disk.entry(folder) === undefined ? [] : namesIn(disk, folder)
  }

  /**
   * Creates a new folder for a file that lost a conflict at the given time, in milliseconds since 1970, and returns the
   * path for the file in this folder.
   */
  placeFor(folder: string, path: string, now: number): string {
    this.#last = Math.max(now, this.#last + 1)
    const name = new Date(this.#last).toISOString().replaceAll(':', '-')
    const place = `${this.#folder}/${name}/${folder}/${path}`
    makeFolders(this.#disk, place.slice(0, place.lastIndexOf('/')))
    this.#times.push(name)
    this.#forgetOld(now)
    return place
  }

  /** Saves the contents of a small file. */
  keep(place: string, bytes: Uint8Array): void {
    try {
      const file = this.#disk.open(place, 'create')
      try {
        this.#disk.write(file, bytes, 0)
      } finally {
        this.#disk.close(file)
      }
    } catch (error) {
      this.giveUp(place)
      throw error
    }
  }

  /**
   * Deletes the folder of a file that could not be saved, so that it does not count as a conflict.
   */
  giveUp(place: string): void {
    const [time = ''] = place.slice(this.#folder.length + 1).split('/')
    const at = this.#times.lastIndexOf(time)
    if (at === -1) return
    this.#times.splice(at, 1)
    removeAll(this.#disk, `${this.#folder}/${time}`)
  }

  /** Returns the path at which a large file is assembled. */
  stageFor(place: string): string {
    return `${place.slice(0, place.lastIndexOf('/') + 1)}${TEMPORARY}${Math.trunc(this.#last)}`
  }

  #forgetOld(now: number): void {
    while (this.#times.length > KEPT && now - timeIn(this.#times[0]!) > KEPT_FOR)
      removeAll(this.#disk, `${this.#folder}/${this.#times.shift()!}`)
  }
}

const namesIn = (disk: Disk, folder: string): string[] =>
  disk
    .list(folder)
    .filter(name => !Number.isNaN(timeIn(name)))
    .sort()

function removeAll(disk: Disk, path: string): void {
  try {
    const entry = disk.entry(path)
    if (entry === undefined) return
    if (entry === 'other' || entry.kind !== 'folder') {
      disk.removeFile(path)
      return
    }
    for (const name of disk.list(path)) removeAll(disk, `${path}/${name}`)
    disk.removeFolder(path)
  } catch {
    // Continue even if an old conflict cannot be deleted.
  }
}
