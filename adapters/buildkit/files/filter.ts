import { normalize } from 'node:path/posix'
import { type Glob, parseGlob } from '../../../compiler/values/glob.ts'

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

interface Pattern {
  readonly glob: Glob
  readonly takesBack: boolean
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
  return {
    takes: path => (!included || decides(included, path)) && !decides(excluded, path),
    skips: folder =>
      (included !== undefined && !decides(included, folder) && !mayMatchBelow(included, false, folder)) ||
      (decides(excluded, folder) && !mayMatchBelow(excluded, true, folder)),
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

/** True if some pattern matches the path, and the last one that does is not negated with `!`. */
function decides(patterns: readonly Pattern[], path: string): boolean {
  const last = patterns.findLast(({ glob }) => glob.holds(path))
  return last !== undefined && !last.takesBack
}

const mayMatchBelow = (patterns: readonly Pattern[], takesBack: boolean, folder: string): boolean =>
  patterns.some(
    pattern =>
      pattern.takesBack === takesBack &&
      (pattern.prefix === undefined || `${pattern.prefix}/`.startsWith(`${folder}/`)),
  )
