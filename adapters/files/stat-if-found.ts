import { lstatSync, type Stats, statSync } from 'node:fs'

/**
 * Returns the properties of a file or folder, after following links; undefined if this user cannot reach it. `statSync`
 * with `throwIfNoEntry: false` throws for other paths that lead nowhere, such as a path below a file.
 */
export const statIfFound = (path: string): Stats | undefined => unlessUnreachable(statSync, path)

/** Returns the properties of a file, folder or link; undefined if this user cannot reach it. */
export const lstatIfFound = (path: string): Stats | undefined => unlessUnreachable(lstatSync, path)

function unlessUnreachable(stat: typeof statSync | typeof lstatSync, path: string): Stats | undefined {
  try {
    // Most missing paths are found out without the cost of an exception.
    return stat(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
