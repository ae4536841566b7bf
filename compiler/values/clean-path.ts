import { normalize } from 'node:path/posix'

/** Returns an absolute or relative path in the form that Go's path.Clean produces. */
export function cleanPath(path: string): string {
  if (path === '') return '.'
  const clean = normalize(path)
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean
}
