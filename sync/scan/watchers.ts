import { joinPath, placeIn } from '../core/paths.ts'
import { type Disk, errorCode, isMissing } from '../stage/disk.ts'

export interface WatchersOptions {
  readonly disk: Disk
  readonly root: string
  /**
   * True if one watcher reports all changes below a folder, as on macOS and Windows. On Linux, a recursive watcher of
   * Node.js would watch each file.
   */
  readonly recursive: boolean
  /** Called when something changed at or below a path. */
  readonly changed: (path: string) => void
  /** Called when events may have been lost. */
  readonly lost: () => void
  /**
   * Called when a system limit was reached, with the first folder that is not watched because of it, and the name of
   * the limit.
   */
  readonly limited: (folder: string, limit: string) => void
}

/** inotify limits. They apply per user of a machine, or per node for all of its Pods. */
const LIMITS: Readonly<Record<string, string>> = {
  ENOSPC: 'fs.inotify.max_user_watches',
  EMFILE: 'fs.inotify.max_user_instances',
}

/** Watches folders. Folders that the system refuses to watch are in `unwatched`, and must be scanned periodically. */
export class Watchers {
  readonly unwatched = new Set<string>()
  /** Name of the system setting whose limit was reached last; undefined if no limit was reached. */
  limit: string | undefined
  readonly #open = new Map<string, () => void>()
  readonly #options: WatchersOptions

  constructor(options: WatchersOptions) {
    this.#options = options
  }

  /** Watches a folder, unless it is already watched. Must be called before the folder is read. */
  add(folder: string): void {
    const { recursive, disk, root } = this.#options
    if (recursive && folder !== '') return
    if (this.#open.has(folder)) return
    try {
      const place = placeIn(root, folder)
      const close = disk.watch(
        place,
        recursive,
        name => this.#heard(folder, name),
        () => this.#ended(folder),
      )
      this.#open.set(folder, close)
      this.unwatched.delete(folder)
    } catch (error) {
      if (isMissing(error)) return
      const limit = LIMITS[errorCode(error) ?? '']
      const isFirst = limit !== undefined && limit !== this.limit
      this.unwatched.add(folder)
      this.limit = limit ?? this.limit
      if (isFirst) this.#options.limited(folder, limit)
      if (!['ENOSPC', 'EMFILE', 'ENFILE', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) this.#options.lost()
    }
  }

  remove(folder: string): void {
    this.unwatched.delete(folder)
    this.#open.get(folder)?.()
    this.#open.delete(folder)
  }

  close(): void {
    for (const close of this.#open.values()) close()
    this.#open.clear()
    this.unwatched.clear()
  }

  #heard(folder: string, name: string | undefined): void {
    const { root } = this.#options
    if (folder === '' && name === root.slice(root.lastIndexOf('/') + 1)) {
      // The event is about the root itself, which another folder may have replaced.
      this.remove('')
      this.#options.lost()
    }
    if (name === undefined) this.#options.lost()
    else this.#options.changed(joinPath(folder, name.replaceAll('\\', this.#options.recursive ? '/' : '\\')))
  }

  #ended(folder: string): void {
    this.remove(folder)
    this.#options.lost()
  }
}
