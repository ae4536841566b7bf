import type { Glob } from './glob.ts'

/** A pattern of a `.dockerignore`. A pattern with `!` includes paths again. */
export interface ExcludingPattern {
  readonly glob: Glob
  readonly takesBack: boolean
}

/** A folder, with the patterns that match it or one of its parent folders. */
interface MatchedFolder {
  readonly path: string
  readonly matched: Uint8Array
}

/**
 * Returns a function that returns true if the patterns exclude a path, as in
 * https://pkg.go.dev/github.com/moby/patternmatcher#PatternMatcher.MatchesUsingParentResults: the last matching pattern
 * decides, and a pattern that matches a folder applies to everything in it. However, a pattern is tested against a path
 * only if it could change the result so far. Therefore `!a` after `a/*` includes nothing again: `a` is not excluded, so
 * `!a` is not tested against `a`, and `a/b` does not match `!a`.
 */
export function excluder(patterns: readonly ExcludingPattern[]): (path: string) => boolean {
  if (!patterns.some(({ takesBack }) => takesBack)) return path => patterns.some(({ glob }) => glob.holds(path))
  // Parent folders of the previous path, which the next path usually shares.
  const around: MatchedFolder[] = []
  const matchedOf = (path: string): MatchedFolder => {
    while (around.length > 0 && !isIn(path, around.at(-1)!.path)) around.pop()
    let last = around.at(-1)
    for (let end = path.indexOf('/', last ? last.path.length + 1 : 0); end !== -1; end = path.indexOf('/', end + 1)) {
      last = { path: path.slice(0, end), matched: matchesOf(patterns, path.slice(0, end), last?.matched) }
      around.push(last)
    }
    return { path, matched: matchesOf(patterns, path, last?.matched) }
  }
  return path => {
    const { matched } = matchedOf(path)
    const decisive = matched.lastIndexOf(1)
    return decisive !== -1 && !patterns[decisive]!.takesBack
  }
}

const isIn = (path: string, folder: string): boolean => path.startsWith(folder) && path[folder.length] === '/'

function matchesOf(patterns: readonly ExcludingPattern[], path: string, parent: Uint8Array | undefined): Uint8Array {
  const matched = new Uint8Array(patterns.length)
  let isExcluded = false
  for (const [index, { glob, takesBack }] of patterns.entries()) {
    const holds = parent?.[index] === 1 || (takesBack === isExcluded && glob.test(path))
    if (!holds) continue
    matched[index] = 1
    isExcluded = !takesBack
  }
  return matched
}
