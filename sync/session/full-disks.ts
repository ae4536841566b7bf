import type { SyncClock } from '../core/clock.ts'
import { isFull, type SyncProblem } from '../stage/problems.ts'
import type { FolderState } from './folder-state.ts'

/** Files of a folder that do not fit on the disk of one side. */
export interface FullDisk {
  readonly folder: string
  readonly side: 'local' | 'remote'
  readonly files: number
  readonly bytes: number
}

export type FullDiskEvent =
  | ({ readonly kind: 'full' } & FullDisk)
  /** Reported when the disk has space again and all of the files have arrived. */
  | { readonly kind: 'room'; readonly folder: string; readonly side: 'local' | 'remote' }

/** Polling interval, and maximum delay of the first report while other files are still being tried, in milliseconds. */
const LOOK = 500
const LONGEST = 5_000

interface Watched {
  readonly state: FolderState
  readonly side: 'local' | 'remote'
  readonly since: number
  /** Number of files in the last report; 0 before the first report. */
  told: number
  cancel: (() => void) | undefined
}

/**
 * Reports full disks once per folder, after all files have been tried, and again when twice as many files do not fit.
 * Otherwise each file would be reported separately.
 */
export class FullDisks {
  readonly #clock: SyncClock
  readonly #tell: (event: FullDiskEvent) => void
  readonly #watched = new Map<string, Watched>()

  constructor(clock: SyncClock, tell: (event: FullDiskEvent) => void) {
    this.#clock = clock
    this.#tell = tell
  }

  /**
   * Handles a problem that has appeared or was solved. Returns true if the problem is a full disk, which this class
   * reports.
   */
  hear(state: FolderState, { side, message }: SyncProblem): boolean {
    const key = `${side} ${state.name}`
    const isOurs = isFull(message)
    let watched = this.#watched.get(key)
    if (isOurs && !watched) {
      watched = { state, side, since: this.#clock.now(), told: 0, cancel: undefined }
      this.#watched.set(key, watched)
    }
    if (watched) this.#lookLater(key, watched)
    return isOurs
  }

  close(): void {
    for (const { cancel } of this.#watched.values()) cancel?.()
  }

  #lookLater(key: string, watched: Watched): void {
    watched.cancel ??= this.#clock.after(LOOK, () => {
      watched.cancel = undefined
      this.#look(key, watched)
    })
  }

  #look(key: string, watched: Watched): void {
    const { state, side, since, told } = watched
    const { files, bytes } = missing(state, side)
    if (files === 0) {
      this.#watched.delete(key)
      if (told > 0) this.#tell({ kind: 'room', folder: state.name, side })
    } else if (files < 2 * told) return
    else if (state.queue.size + state.busy.size > 0 && this.#clock.now() - since < LONGEST)
      this.#lookLater(key, watched)
    else {
      watched.told = files
      this.#tell({ kind: 'full', folder: state.name, side, files, bytes })
    }
  }
}

function missing({ problems }: FolderState, side: 'local' | 'remote'): Pick<FullDisk, 'files' | 'bytes'> {
  const nodes = [...problems].filter(([, problem]) => problem.side === side && isFull(problem.message))
  const sizes = nodes.map(([{ local, remote }]) => (side === 'local' ? remote : local)?.size ?? 0)
  return { files: nodes.length, bytes: sizes.reduce((all, size) => all + size, 0) }
}
