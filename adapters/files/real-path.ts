import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { leadsOut } from '../../compiler/values/leads-out.ts'

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

/**
 * Returns a path relative to the folder that contains it; undefined for a path outside the folder. Resolves links if
 * the text of the path leads out, because options may name a folder by a link, and the current folder has no links.
 */
export function pathInside(folder: string, path: string): string | undefined {
  return inside(folder, path) ?? inside(resolveLinks(folder), resolveLinks(path))
}

function inside(folder: string, path: string): string | undefined {
  const found = relative(folder, path)
  return leadsOut(found) || isAbsolute(found) ? undefined : found
}
