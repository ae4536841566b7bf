import { realpathSync } from 'node:fs'

/**
 * Returns a path with its links resolved; undefined if nothing exists there. Resolves links as the kernel does. By
 * contrast, `realpathSync` without `native` resolves `..` in a link's target as text, and so finds the wrong file or no
 * file.
 */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
