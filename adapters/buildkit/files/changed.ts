import type { BigIntStats } from 'node:fs'

/** Returns true if a file in a folder has changed since the tag of the image was computed. */
export type ChangeFinder = (path: string, stats: BigIntStats) => boolean

/** Error for a file that changed after the run started, but before the builder had received the whole file. */
export class FileChanged extends Error {
  readonly path: string

  constructor(path: string) {
    super(`${path} changed during the build`)
    this.path = path
  }
}
