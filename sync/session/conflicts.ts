import type { Disk } from '../stage/disk.ts'
import { makeFolders } from '../stage/disk-files.ts'
import { TEMPORARY } from '../stage/writer.ts'

/** A change that has lost against one of the laptop. It is kept on the laptop, outside the synchronized folder. */
export interface SyncConflict {
  readonly folder: string
  readonly path: string
  /** The file that has lost. */
  readonly kept: string
  /** Milliseconds since 1970. */
  readonly time: number
}

const KEPT = 200

/** The files that have lost: `<folder>/<time>/<sync folder>/<path>`, the last 200. */
export class ConflictFolder {
  readonly #disk: Disk
  readonly #folder: string
  readonly #times: string[]
  #last = 0

  constructor(disk: Disk, folder: string) {
    this.#disk = disk
    this.#folder = folder
    this.#times = disk.entry(folder) === undefined ? [] : [...disk.list(folder)].sort()
  }

  /** A place for a file that has lost at that time, in a folder of its own. */
  placeFor(folder: string, path: string, now: number): string {
    this.#last = Math.max(now, this.#last + 1)
    const name = new Date(this.#last).toISOString().replaceAll(':', '-')
    const place = `${this.#folder}/${name}/${folder}/${path}`
    makeFolders(this.#disk, place.slice(0, place.lastIndexOf('/')))
    this.#times.push(name)
    this.#forgetOld()
    return place
  }

  /** Keeps the contents of a small file. */
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

  /** The file could not be kept there: the place does not count as one of the last 200. */
  giveUp(place: string): void {
    const [time = ''] = place.slice(this.#folder.length + 1).split('/')
    const at = this.#times.lastIndexOf(time)
    if (at === -1) return
    this.#times.splice(at, 1)
    removeAll(this.#disk, `${this.#folder}/${time}`)
  }

  /** Where a large file is put together. */
  stageFor(place: string): string {
    return `${place.slice(0, place.lastIndexOf('/') + 1)}${TEMPORARY}${Math.trunc(this.#last)}`
  }

  #forgetOld(): void {
    while (this.#times.length > KEPT) removeAll(this.#disk, `${this.#folder}/${this.#times.shift()!}`)
  }
}

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
    // An old conflict that cannot be removed is no reason to stop.
  }
}
