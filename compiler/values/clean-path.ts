import { normalize } from 'node:path/posix'

/** A cleaned absolute or relative path, as Go's path.Clean gives it. */
export function cleanPath(path: string): string {
  if (path === '') return '.'
  const clean = normalize(path)
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean
}
