import { isAbsolute, relative } from 'node:path'
import { resolveLinks } from '../adapters/files/real-path.ts'
import { leadsOut } from '../compiler/values/leads-out.ts'

/**
 * Returns the path relative to `folder`; undefined for a path outside the folder. If the text of the path leads out of
 * the folder, compares both paths with resolved links: an option may name a folder by a link, while the path of the
 * current folder contains no links.
 */
export function pathInside(folder: string, path: string): string | undefined {
  return inside(folder, path) ?? inside(resolveLinks(folder), resolveLinks(path))
}

function inside(folder: string, path: string): string | undefined {
  const found = relative(folder, path)
  return leadsOut(found) || isAbsolute(found) ? undefined : found
}
