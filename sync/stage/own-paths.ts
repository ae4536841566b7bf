import { plainPath } from '../core/paths.ts'
import type { IgnoreRules } from '../ignore/ignore.ts'

/** Archives that `devctl doctor` writes, which contain logs of this machine. */
const ARCHIVE = /(^|\/)devctl-doctor-[^/]*\.zip$/

/**
 * Returns rules that also ignore devctl's archives and the given paths, which belong only to this machine. An ignore
 * file cannot include them again. Spellings of a name that some file systems treat as equal are ignored, too.
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
