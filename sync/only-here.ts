import { type FileEntry, isFolder } from './entry.ts'
import { type NameRules, plainName, plainPath } from './paths.ts'
import type { TreeNode } from './tree-node.ts'

/** What devctl reads by its name, in whatever folder it is called: manifests, Compose files and the variables of both. */
const READ_BY_NAME = /(^|\/)(devctl\.ya?ml|(docker-)?compose(\.override)?\.ya?ml|\.env)$/

const DECIDES = 'it says what devctl runs on this machine, so that only this machine changes it'
const MAKES_REPOSITORY = 'a file `HEAD` can make its folder a git repository, whose configuration runs on this machine'
const IN_REPOSITORY = 'its folder is a git repository, whose configuration runs on this machine'

/** What only this machine changes, as it says what runs here: the container keeps its own, and this machine keeps its own. */
export class OnlyHere {
  readonly #paths: ReadonlySet<string>
  readonly #rules: NameRules

  /** `paths`: those that the session was read from, relative to the folder. */
  constructor(paths: readonly string[], rules: NameRules) {
    this.#paths = new Set(paths.map(plainPath))
    this.#rules = rules
  }

  /** Returns why what the container does at a path is not done here, and of which path to say so; undefined if it may be. */
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
   * True for a folder in which git finds a repository, or would with what the container has there: a file or link HEAD, and the
   * folders `objects` and `refs`, or a file that says where they are.
   */
  #isRepository({ children }: TreeNode): boolean {
    if (!children) return false
    const has = (name: string) => {
      const node = children.get(name)
      return node?.local !== undefined || node?.remote !== undefined
    }
    const head = this.#rules.foldsCase
      ? [...children.values()].some(({ name, local }) => this.#isHead(name) && isFile(local))
      : isFile(children.get('HEAD')?.local)
    if (!head) return false
    if (!this.#rules.foldsCase) return has('commondir') || (has('objects') && has('refs'))
    const names = new Set([...children.keys()].filter(has).map(name => plainName(name).toLowerCase()))
    return names.has('commondir') || (names.has('objects') && names.has('refs'))
  }

  #isHead(name: string): boolean {
    if (name === 'HEAD') return true
    return this.#rules.foldsCase && plainName(name).toLowerCase() === 'head'
  }
}

const isFile = (entry: FileEntry | undefined): boolean => entry !== undefined && !isFolder(entry)
