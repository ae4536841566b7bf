import { isAbsolute, relative } from 'node:path'
import { resolveLinks } from '../adapters/files/real-path.ts'
import { leadsOut } from '../compiler/values/leads-out.ts'

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
