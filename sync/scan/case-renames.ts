import { joinPath, type NameRules, nameKey, placeIn } from '../core/paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import type { Disk } from '../stage/disk.ts'

/** Names of a folder, and the nodes that the tree has for it, by name key. */
interface Folder {
  readonly names: ReadonlyMap<string, readonly string[]>
  readonly nodes: ReadonlyMap<string, readonly TreeNode[]>
}

/** Folder to check: its place on the disk, its tree, and the rules for its names. */
export interface CaseRenamesOptions {
  readonly disk: Disk
  readonly root: string
  readonly tree: TreeNode
  /** Rules of the file system; undefined if it distinguishes all names. */
  readonly rules?: NameRules | undefined
}

/**
 * Finds files that were renamed by case only. A file system that ignores case still finds such a file under its old
 * name, so only the list of its folder shows the name that it has now. Lists each folder once.
 */
export class CaseRenames {
  readonly #options: CaseRenamesOptions
  readonly #folders = new Map<string, Folder>()

  constructor(options: CaseRenamesOptions) {
    this.#options = options
  }

  /** Returns the nodes that are no longer listed, and the listed paths, for a path that may have been renamed. */
  look(path: string): { readonly gone: readonly TreeNode[]; readonly listed: readonly string[] } {
    const { rules } = this.#options
    if (!rules?.foldsCase || path === '') return { gone: [], listed: [path] }
    const end = path.lastIndexOf('/')
    const above = path.slice(0, Math.max(0, end))
    const { names, nodes } = this.#folder(above, rules)
    const key = nameKey(path.slice(end + 1), rules)
    const listed = names.get(key)
    if (!listed) return { gone: [], listed: [path] }
    const gone = nodes.get(key)?.filter(({ name, local }) => local && !listed.includes(name)) ?? []
    return { gone, listed: listed.map(name => joinPath(above, name)) }
  }

  #folder(above: string, rules: NameRules): Folder {
    const known = this.#folders.get(above)
    if (known) return known
    const nodes = [...(this.#options.tree.find(above)?.children?.values() ?? [])]
    const folder = {
      names: grouped(this.#list(above), name => nameKey(name, rules)),
      nodes: grouped(nodes, ({ name }) => nameKey(name, rules)),
    }
    this.#folders.set(above, folder)
    return folder
  }

  #list(above: string): readonly string[] {
    const { disk, root } = this.#options
    try {
      return disk.list(placeIn(root, above))
    } catch {
      // The folder cannot be read, or was deleted, which the check of the path finds out.
      return []
    }
  }
}

function grouped<T>(values: Iterable<T>, keyOf: (value: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const value of values) {
    const group = groups.get(keyOf(value))
    if (group) group.push(value)
    else groups.set(keyOf(value), [value])
  }
  return groups
}
