import { type FileEntry, isFolder } from '../core/entry.ts'
import { type NameRules, plainPath } from '../core/paths.ts'
import type { TreeNode } from '../core/tree-node.ts'

/**
 * Files that devctl reads by their names, in any folder in which it is called: manifests, Compose files and the
 * variables of both.
 */
const READ_BY_NAME = /(^|\/)(devctl\.ya?ml|(docker-)?compose(\.override)?\.ya?ml|\.env)$/

const DECIDES = 'it says what devctl runs on this machine, so that only this machine changes it'
const MAKES_REPOSITORY = 'a file `HEAD` can make its folder a git repository, whose configuration runs on this machine'
const IN_REPOSITORY = 'its folder is a git repository, whose configuration runs on this machine'

/**
 * Knows the paths that only this machine changes, because they determine what runs here: each side keeps its own
 * version.
 */
export class OnlyHere {
  readonly #paths: ReadonlySet<string>
  readonly #rules: NameRules

  /** `paths`: the files that the session was read from, relative to the folder. */
  constructor(paths: readonly string[], rules: NameRules) {
    this.#paths = new Set(paths.map(plainPath))
    this.#rules = rules
  }

  /**
   * Returns the reason why the container's change at a path is not made here, and the path to report it for; undefined
   * if it may be made.
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
   * Returns true for a folder in which git finds a repository, or would find one with the container's files: a file or
   * link HEAD, and the folders `objects` and `refs`, or a file that says where they are.
   */
  #isRepository({ children }: TreeNode): boolean {
    if (!children || !this.#named(children, 'HEAD').some(({ local }) => isFile(local))) return false
    const has = (name: string) =>
      this.#named(children, name).some(one => one.local !== undefined || one.remote !== undefined)
    return has('commondir') || (has('objects') && has('refs'))
  }

  /** Returns the nodes that this machine treats as having that name. */
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
