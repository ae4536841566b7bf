import { plainPath } from '../core/paths.ts'
import type { IgnoreRules } from '../ignore/ignore.ts'

/** Archives that `devctl doctor` writes: logs of this machine. */
const ARCHIVE = /(^|\/)devctl-doctor-[^/]*\.zip$/

/**
 * Returns the rules with those paths left out that only belong to this machine, and devctl's archives; no ignore file
 * can undo that. Names that some file systems treat as equal are equal here.
 */
export function withoutOwnPaths(rules: IgnoreRules, paths: readonly string[]): IgnoreRules {
  const own = paths.map(plainPath)
  const isOwn = (path: string) => {
    const plain = plainPath(path)
    return ARCHIVE.test(plain) || own.some(one => plain === one || plain.startsWith(`${one}/`))
  }
  return {
    ignores: (path, isFolder) => isOwn(path) || rules.ignores(path, isFolder),
    mayHoldIncluded: folder => !isOwn(folder) && rules.mayHoldIncluded(folder),
    deletable: path => !isOwn(path) && rules.deletable(path),
  }
}
