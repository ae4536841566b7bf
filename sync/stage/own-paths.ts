import { plainPath } from '../core/paths.ts'
import type { IgnoreRules } from '../ignore/ignore.ts'

/** What `devctl doctor` writes: logs of this machine. */
const ARCHIVE = /(^|\/)devctl-doctor-[^/]*\.zip$/

/**
 * The rules with paths that only belong to this machine left out, and devctl's archives, which no ignore file can undo. Names that some file
 * systems take for the same are the same here.
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
