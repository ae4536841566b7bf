import { normalize } from 'node:path/posix'
import { type ExcludingPattern, excluder } from '../../../compiler/values/excluder.ts'
import { parseGlob } from '../../../compiler/values/glob.ts'

/** Which files of a folder are asked for. */
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
  const trimmed = text.trim()
  const takesBack = trimmed.startsWith('!')
  const path = normalize(takesBack ? trimmed.slice(1).trim() : trimmed).replace(/^\/+|\/+$/g, '')
  const fixed = path.replace(/\/\*\*?$/, '')
  return {
    glob: parseGlob(path.replace(/\\(.)/g, escapeOf)),
    takesBack,
    prefix: /[*[\]?^\\]/.test(fixed) ? undefined : fixed,
  }
}

/** Before a letter or digit, BuildKit takes `\` for an escape of a regular expression (`\b`). */
const escapeOf = (both: string, character: string) => (/[a-z\d]/i.test(character) ? '\0' : both)

const mayMatchBelow = (patterns: readonly Pattern[], takesBack: boolean, folder: string): boolean =>
  patterns.some(
    pattern =>
      pattern.takesBack === takesBack &&
      (pattern.prefix === undefined || `${pattern.prefix}/`.startsWith(`${folder}/`)),
  )
