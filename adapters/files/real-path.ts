import { realpathSync } from 'node:fs'

/**
 * Returns a path with its links resolved; undefined if nothing exists there. Resolves links as the kernel does:
 * `realpathSync` without `native` applies the `..` of a link's target to its text, and so finds the wrong file or no
 * file.
 */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
