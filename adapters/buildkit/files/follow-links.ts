import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path/posix'
import { parseGlob } from '../../../compiler/values/glob.ts'
import { withGoSets } from '../../../compiler/values/images/ignore-file.ts'

/**
 * Returns patterns that select the paths and the targets of all symbolic links along the paths: for `COPY current/app`,
 * both the link `current` and its target are sent. Resolves targets within the folder, as in a container. Returns
 * undefined if a path is the folder itself, which selects everything.
 */
export function followLinks(root: string, paths: readonly string[]): readonly string[] | undefined {
  const found = new Set<string>()
  for (const path of paths) follow(root, path, found)
  const sorted = [...found].sort()
  if (sorted.includes('.')) return undefined
  return sorted.filter((path, index) => !sorted.slice(0, index).some(before => path.startsWith(`${before}/`)))
}

function follow(root: string, path: string, found: Set<string>): void {
  let current = '.'
  const rest = path.split('/').filter(part => part !== '')
  if (rest.length === 0) found.add('.')
  while (rest.length > 0) {
    current = join(current, rest.shift()!)
    const targets = linksAt(root, current)
    const isEnd = rest.length === 0
    if ((isEnd || targets) && found.has(current)) return
    if (targets) {
      found.add(current)
      for (const target of targets) follow(root, join(target, ...rest), found)
      return
    }
    if (isEnd) found.add(current)
  }
}

/** Returns the targets of the links at a path, whose last part may be a pattern; undefined if there is no link. */
function linksAt(root: string, path: string): readonly string[] | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (!/[*?[]/.test(name)) return targetOf(root, path)
  const folder = dirname(path)
  const glob = parseGlob(withGoSets(name))
  const targets = namesIn(join(root, folder))
    .filter(other => glob.test(other))
    .flatMap(other => targetOf(root, join(folder, other)) ?? [])
  return targets.length > 0 ? targets : undefined
}

function targetOf(root: string, path: string): readonly string[] | undefined {
  const full = join(root, path)
  try {
    if (!lstatSync(full).isSymbolicLink()) return undefined
    const link = readlinkSync(full)
    return [isAbsolute(link) ? link : join('/', dirname(path), link)]
  } catch {
    return undefined
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
