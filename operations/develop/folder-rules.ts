import { posix } from 'node:path'
import { ignoringFolders } from '../../sync/default-ignores.ts'
import type { IgnoreRules } from '../../sync/ignore.ts'
import type { ComposeFolder } from './compose-folders.ts'
import { ignoresWhole, inside, type WatchPatterns, watchFilter } from './watch-patterns.ts'

/**
 * What is not synchronized of a folder of a Compose file: what `base` ignores (`.stignore`, or the
 * rules without one), what the container has of its own there, and, for a folder of
 * `develop.watch`, what none of its rules is about.
 */
export function folderRules(
  { local, excluded, rules }: Pick<ComposeFolder, 'local' | 'excluded' | 'rules'>,
  base: IgnoreRules,
): IgnoreRules {
  const own = ignoringFolders(base, excluded)
  if (rules.length === 0) return own
  const filters = rules.map(rule => ({ rule, takes: watchFilter(rule), ignores: ignoresWhole(rule) }))
  const leadsTo = (folder: string) => filters.some(({ rule, ignores }) => isOnTheWay(folder, rule) && !ignores(folder))
  return {
    ignores: (path, isFolder) => {
      if (own.ignores(path, isFolder)) return true
      const at = posix.join(local, path)
      return isFolder ? !leadsTo(at) : !filters.some(({ takes }) => takes(at))
    },
    mayHoldIncluded: folder => own.mayHoldIncluded(folder) && leadsTo(posix.join(local, folder)),
    deletable: path => own.deletable(path),
  }
}

/** True if a rule is about a folder, about one that it is in, or about something in it. */
const isOnTheWay = (folder: string, { path, isFolder }: WatchPatterns): boolean =>
  inside(path, folder) !== undefined || (isFolder && (folder === path || inside(folder, path) !== undefined))
