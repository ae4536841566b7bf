import { type ExcludingPattern, excluder } from '../../../compiler/values/excluder.ts'
import { dockerPattern } from '../../../compiler/values/images/ignore-file.ts'

/** The files of a folder that the builder requests. */
export interface FileSelection {
  /** Only what one of these patterns matches, or lies below; absent: everything. */
  readonly include?: readonly string[]
  /** Not what the last matching pattern excludes; `!` takes back. */
  readonly exclude?: readonly string[]
  /** Paths whose symbolic links are followed, and their targets included. */
  readonly followPaths?: readonly string[]
}

/** The selection of paths in a walk. */
export interface PathFilter {
  /**
   * True if the path is selected. A folder that is not selected is still sent if something in it
   * is.
   */
  readonly takes: (path: string) => boolean
  /** True if nothing below a folder that is not selected can be selected. */
  readonly skips: (folder: string) => boolean
}

interface Pattern extends ExcludingPattern {
  /** The path before the first wildcard, where all wildcards are at the end; undefined where any path may match. */
  readonly prefix: string | undefined
}

/**
 * The filter of patterns in the syntax of `.dockerignore`
 * (https://docs.docker.com/build/concepts/context/#syntax): they are tied to the context, a pattern
 * holds for all below what it matches, and the last one that matches decides.
 */
export function pathFilter({ include, exclude = [] }: FileSelection): PathFilter {
  const included = include?.map(parsePattern)
  const excluded = exclude.map(parsePattern)
  const includes = included && excluder(included)
  const excludes = excluder(excluded)
  return {
    takes: path => (!includes || includes(path)) && !excludes(path),
    skips: folder =>
      (included !== undefined && !includes!(folder) && !mayMatchBelow(included, false, folder)) ||
      (excludes(folder) && !mayMatchBelow(excluded, true, folder)),
  }
}

function parsePattern(text: string): Pattern {
  const pattern = dockerPattern(text)
  const fixed = pattern.path.replace(/\/\*\*?$/, '')
  return { ...pattern, prefix: /[*[\]?^\\]/.test(fixed) ? undefined : fixed }
}

const mayMatchBelow = (patterns: readonly Pattern[], takesBack: boolean, folder: string): boolean =>
  patterns.some(
    pattern =>
      pattern.takesBack === takesBack &&
      (pattern.prefix === undefined || `${pattern.prefix}/`.startsWith(`${folder}/`)),
  )
