import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Returns a path with its links resolved, as the kernel resolves them; undefined if no file exists at the path. By
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

/** Returns the path with its links resolved, even if its last segments do not exist. */
export function resolveLinks(path: string): string {
  const folder = dirname(path)
  return realPath(path) ?? (folder === path ? path : join(resolveLinks(folder), basename(path)))
}
