import { join, resolve } from 'node:path/posix'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import type { Span } from '../text/source.ts'
import type { BuildCache } from '../values/images/build-cache.ts'
import { mayRead, mayWrite } from './read/storage/outside-files.ts'

/**
 * Returns the name of the Dockerfile in a folder, as BuildKit does: `Dockerfile` or, where only it exists, `dockerfile`
 * (https://github.com/moby/buildkit/pull/1816).
 */
export function defaultDockerfile(folder: string, host: Pick<CompilerHost, 'stat'>): string {
  const isFile = (name: string) => host.stat(join(folder, name))?.kind === 'file'
  return !isFile('Dockerfile') && isFile('dockerfile') ? 'dockerfile' : 'Dockerfile'
}

/** Returns a cache entry. In an entry of type `local`, resolves the folder against the project folder. */
export function onThisMachine(
  entry: BuildCache,
  key: 'src' | 'dest',
  { directory }: { readonly directory: string },
): BuildCache {
  const folder = entry.type === 'local' ? entry.attributes[key] : undefined
  if (folder === undefined) return entry
  return { ...entry, attributes: { ...entry.attributes, [key]: resolve(directory, folder) } }
}

/**
 * Returns true if a build is allowed to use the cache that the file names at `span`. Reports a `local` cache whose
 * folder is outside the project.
 */
export function mayUseCache(
  entry: BuildCache,
  key: 'src' | 'dest',
  project: { readonly directory: string },
  { host, reporter, span }: { readonly host: CompilerHost; readonly reporter: Reporter; readonly span: Span },
): boolean {
  const { type, attributes } = onThisMachine(entry, key, project)
  const folder = type === 'local' ? attributes[key] : undefined
  const check = key === 'src' ? mayRead : mayWrite
  return folder === undefined || check(host, folder, span, reporter)
}

/**
 * Splits a comma-separated list of SSH keys, as `buildx` accepts it, and makes the paths absolute. The loader has
 * already resolved the first path.
 */
export const keyPaths = (path: string, { directory }: { readonly directory: string }): readonly string[] =>
  path === '' ? [] : path.split(',').map(one => resolve(directory, one))
