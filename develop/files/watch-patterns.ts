import { posix } from 'node:path'
import { excluder } from '../../compiler/values/excluder.ts'
import { dockerIgnore, dockerPattern } from '../../compiler/values/images/ignore-file.ts'

/** Paths that a rule of `develop.watch` covers. Patterns have the grammar of `.dockerignore`. */
export interface WatchPatterns {
  /** Absolute path of the watched folder or file. */
  readonly path: string
  readonly isFolder: boolean
  /** Patterns relative to `path`. */
  readonly ignore: readonly string[]
  /** Patterns relative to `path`; if empty, all files are included. */
  readonly include: readonly string[]
  /** Ignore file of the service's build, and the folder that its patterns are relative to. */
  readonly dockerIgnore?: { readonly folder: string; readonly text: string }
}

/**
 * Returns a function that checks whether a rule covers an absolute path
 * (https://github.com/compose-spec/compose-spec/blob/main/develop.md#ignore).
 */
export function watchFilter({
  path,
  isFolder,
  ignore,
  include,
  dockerIgnore: file,
}: WatchPatterns): (at: string) => boolean {
  const isIgnored = matcher(ignore)
  const isIncluded = include.length === 0 ? () => true : matcher(include)
  const isLeftOut = file ? dockerIgnore(file.text) : () => false
  return at => {
    if (!isFolder) return at === path
    const own = inside(at, path)
    if (own === undefined) return false
    const ofBuild = file && inside(at, file.folder)
    return isIncluded(own) && !isIgnored(own) && !(ofBuild !== undefined && isLeftOut(ofBuild))
  }
}

const matcher = (patterns: readonly string[]): ((path: string) => boolean) =>
  excluder(patterns.map(dockerPattern).filter(({ path }) => path !== '' && path !== '.'))

/** Returns `path` relative to `folder`. Returns undefined if `path` is the folder itself or outside it. */
export function inside(path: string, folder: string): string | undefined {
  const start = folder === posix.sep ? folder : `${folder}${posix.sep}`
  return path.length > start.length && path.startsWith(start) ? path.slice(start.length) : undefined
}
