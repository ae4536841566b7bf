import { type FileEntry, isFolder } from '../core/entry.ts'
import { type NameRules, plainPath } from '../core/paths.ts'
import type { TreeNode } from '../core/tree-node.ts'

/** Files that devctl reads by name in any folder where it runs: manifests, Compose files and their variables. */
const READ_BY_NAME = /(^|\/)(devctl\.ya?ml|(docker-)?compose(\.override)?\.ya?ml|\.env)$/

const DECIDES = 'it says what devctl runs on this machine, so that only this machine changes it'
const MAKES_REPOSITORY = 'a file `HEAD` can make its folder a git repository, whose configuration runs on this machine'
const IN_REPOSITORY = 'its folder is a git repository, whose configuration runs on this machine'

/**
 * Decides which paths only this machine may change: the paths that determine what runs on this machine. Each side keeps
 * its own version of these paths.
 */
export class OnlyHere {
  readonly #paths: ReadonlySet<string>
  readonly #rules: NameRules

  /** `paths` are the files that the configuration of the session was read from, relative to the folder. */
  constructor(paths: readonly string[], rules: NameRules) {
    this.#paths = new Set(paths.map(plainPath))
    this.#rules = rules
  }

  /**
   * Returns the reason why a change of the container is not applied to this machine, and the path to report; undefined
   * if the change may be applied.
   */
  problem(node: TreeNode): { readonly path: string; readonly message: string } | undefined {
    const path = plainPath(node.path)
    if (READ_BY_NAME.test(path) || this.#paths.has(path)) return { path: node.path, message: DECIDES }
    if (this.#isHead(node.name) && [node.local, node.remote].some(isFile))
      return { path: node.path, message: MAKES_REPOSITORY }
    for (let folder = node.parent; folder; folder = folder.parent)
      if (this.#isRepository(folder)) return { path: folder.path || '.', message: IN_REPOSITORY }
    return undefined
  }

  /**
   * Returns true if git treats the folder as a repository, or would with the container's files: if it contains a file
   * or link `HEAD`, and either the folders `objects` and `refs`, or a file `commondir` that names their location.
   */
  #isRepository({ children }: TreeNode): boolean {
    if (!children || !this.#named(children, 'HEAD').some(({ local }) => isFile(local))) return false
    const has = (name: string) =>
      this.#named(children, name).some(one => one.local !== undefined || one.remote !== undefined)
    return has('commondir') || (has('objects') && has('refs'))
  }

  /** Returns the nodes whose names are equal to the given name on this machine. */
  #named(children: ReadonlyMap<string, TreeNode>, name: string): readonly TreeNode[] {
    if (this.#rules.foldsCase) return [...children.values()].filter(one => plainPath(one.name) === name.toLowerCase())
    const node = children.get(name)
    return node ? [node] : []
  }

  #isHead(name: string): boolean {
    return this.#rules.foldsCase ? plainPath(name) === 'head' : name === 'HEAD'
  }
}

const isFile = (entry: FileEntry | undefined): boolean => entry !== undefined && !isFolder(entry)
