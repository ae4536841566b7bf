import type { BigIntStats } from 'node:fs'

/** Returns true if a file in a folder has changed since the tag of the image was computed. */
export type ChangeFinder = (path: string, stats: BigIntStats) => boolean

/** Error for a file that changed between the start of a run and the end of its transfer to the builder. */
export class FileChanged extends Error {
  readonly path: string

  constructor(path: string) {
    super(`${path} changed during the build`)
    this.path = path
  }
}
