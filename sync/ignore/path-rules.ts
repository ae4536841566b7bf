import { type IgnoreRules, parseIgnores } from './ignore.ts'

/** Patterns in the syntax of an ignore file, and the folder that they are relative to. */
export interface PatternSet {
  readonly text: string
  /**
   * Folder of the patterns, relative to the sync folder; '' for the sync folder itself. Paths outside this folder match
   * nothing.
   */
  readonly below: string
  /**
   * Path of the sync folder relative to the folder of the patterns, if the latter is a parent of the sync folder;
   * otherwise ''.
   */
  readonly above: string
}

/** Paths of a sync folder that are synchronized. */
export interface PathRule {
  /** Folder or file in the sync folder; '' for the full sync folder. */
  readonly under: string
  readonly isFile: boolean
  /** Patterns of the paths that are synchronized. If absent, all paths. */
  readonly only?: PatternSet
  /** Patterns of paths under `under` that are not synchronized. */
  readonly except: readonly PatternSet[]
}

interface ReadRule {
  readonly rule: PathRule
  readonly only: Matcher | undefined
  readonly except: readonly Matcher[]
}

/**
 * Returns ignore rules that synchronize a path only if at least one of the path rules `rules` covers it and `base` does
 * not ignore it. Without path rules, `base` alone decides.
 */
export function onlyPaths(rules: readonly PathRule[], base: IgnoreRules): IgnoreRules {
  if (rules.length === 0) return base
  const all = rules.map(
    (rule): ReadRule => ({ rule, only: rule.only && matcher(rule.only), except: rule.except.map(matcher) }),
  )
  const leadsTo = (folder: string) => all.some(one => mayLeadTo(one, folder))
  return {
    ignores: (path, isFolder) =>
      base.ignores(path, isFolder) || (isFolder ? !leadsTo(path) : !all.some(one => isAbout(one, path))),
    mayHoldIncluded: folder => base.mayHoldIncluded(folder) && leadsTo(folder),
    deletable: path => base.deletable(path),
  }
}

function isAbout({ rule: { under, isFile }, only, except }: ReadRule, path: string): boolean {
  if (isFile) return path === under
  if (below(path, under) === undefined) return false
  return (only?.matches(path) ?? true) && !except.some(one => one.matches(path))
}

/**
 * Returns true for a folder that contains the rule's path. Unless the path is a file, also returns true for the path
 * itself, and for folders below it in which the rule does not exclude everything.
 */
function mayLeadTo({ rule: { under, isFile }, except }: ReadRule, folder: string): boolean {
  if (under === folder || below(under, folder) !== undefined) return !(isFile && under === folder)
  return !isFile && below(folder, under) !== undefined && !except.some(one => one.matchesAllBelow(folder))
}

interface Matcher {
  matches(path: string): boolean
  matchesAllBelow(folder: string): boolean
}

function matcher({ text, below: folder, above }: PatternSet): Matcher {
  const { rules } = parseIgnores(text, () => undefined)
  const at = (path: string) => (above === '' ? below(path, folder) : `${above}/${path}`)
  return {
    matches: path => {
      const own = at(path)
      return own !== undefined && rules.ignores(own, false)
    },
    matchesAllBelow: path => {
      const own = at(path)
      return own !== undefined && rules.ignores(own, true) && !rules.mayHoldIncluded(own)
    },
  }
}

/** Returns the path relative to a folder; undefined if the path is not in the folder. */
function below(path: string, folder: string): string | undefined {
  if (folder === '') return path === '' ? undefined : path
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined
}
