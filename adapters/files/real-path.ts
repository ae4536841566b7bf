import { realpathSync } from 'node:fs'

/**
 * A path with its links followed; undefined where nothing is there. As the kernel does it:
 * `realpathSync` without `native` takes the `..` of a link's target off its text, and so finds
 * another file than the one that is read, or none.
 */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
