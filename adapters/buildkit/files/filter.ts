import { type ExcludingPattern, excluder } from '../../../compiler/values/excluder.ts'
import { dockerPattern } from '../../../compiler/values/images/ignore-file.ts'

/** The files of a folder that the builder requests. */
export interface FileSelection {
  /** Patterns of the paths to include, with everything below them. If absent, everything is included. */
  readonly include?: readonly string[]
  /** Patterns of the paths to exclude. The last matching pattern decides; `!` includes a path again. */
  readonly exclude?: readonly string[]
  /** Paths in which symbolic links are followed. The targets of the links are included, too. */
  readonly followPaths?: readonly string[]
}

/** Decides which paths of a walk are selected. */
export interface PathFilter {
  /**
   * Returns true if the path is selected. A folder that is not selected is still sent if a path below it is selected.
   */
  readonly takes: (path: string) => boolean
  /** Returns true if nothing below an unselected folder can be selected. */
  readonly skips: (folder: string) => boolean
}

interface Pattern extends ExcludingPattern {
  /**
   * The pattern without a final `/*` or `/**`. Undefined if the rest of the pattern contains wildcards, because it may
   * then match any path.
   */
  readonly prefix: string | undefined
}

/**
 * Returns a filter for patterns in the syntax of `.dockerignore`
 * (https://docs.docker.com/build/concepts/context/#syntax): the patterns are relative to the context, each also matches
 * everything below a matching path, and the last matching pattern decides.
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
