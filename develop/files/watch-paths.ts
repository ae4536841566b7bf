import { posix } from 'node:path'
import { TreeNode } from '../../sync/core/tree-node.ts'
import { toRules } from '../../sync/scan/ignore-source.ts'
import { Scanner } from '../../sync/scan/scanner.ts'
import { systemClock } from '../../sync/session/system-clock.ts'
import { nodeDisk } from '../../sync/stage/disk.ts'
import { folderRules } from '../select/folder-rules.ts'
import type { ActionRule } from './watch-actions.ts'
import { inside, type WatchPatterns } from './watch-patterns.ts'

interface WatchPathsOptions {
  /** Interval between two full scans in seconds; 0 disables them. */
  readonly rescanInterval: number
  /** Called with the absolute paths of changed files. */
  readonly changed: (paths: readonly string[]) => void
  /** Called with each path that cannot be read. */
  readonly problem: (path: string, error: unknown) => void
}

/**
 * Watches the paths of rules on this machine; paths in the same folder share a watcher. Files that already exist do not
 * count as changes. Returns a function that stops watching.
 */
export async function watchPaths(rules: readonly ActionRule[], options: WatchPathsOptions): Promise<() => void> {
  const trees = [...rootsOf(rules.map(({ patterns }) => patterns))].map(
    ([root, patterns]) => new WatchedTree(root, patterns, options),
  )
  const close = () => {
    for (const tree of trees) tree.close()
  }
  try {
    await Promise.all(trees.map(tree => tree.start()))
  } catch (error) {
    close()
    throw error
  }
  return close
}

/**
 * Returns the folders to watch, each with its rules. A folder inside another watched folder is covered by the outer
 * folder.
 */
function rootsOf(all: readonly WatchPatterns[]): ReadonlyMap<string, readonly WatchPatterns[]> {
  const found = new Map<string, WatchPatterns[]>()
  const rootOf = ({ path, isFolder }: WatchPatterns) => (isFolder ? path : posix.dirname(path))
  for (const one of [...all].sort((a, b) => rootOf(a).length - rootOf(b).length)) {
    const root = rootOf(one)
    const outer = [...found.keys()].find(other => other === root || inside(root, other) !== undefined) ?? root
    found.set(outer, [...(found.get(outer) ?? []), one])
  }
  return found
}

class WatchedTree {
  readonly #tree: Scanner
  readonly #changed = new Set<string>()
  #isStarted = false

  constructor(root: string, rules: readonly WatchPatterns[], { rescanInterval, changed, problem }: WatchPathsOptions) {
    this.#tree = new Scanner({
      root,
      rescanInterval,
      disk: nodeDisk,
      clock: systemClock,
      tree: new TreeNode(''),
      ignores: toRules(folderRules({ local: root, excluded: [], rules }), () => false),
      recursive: process.platform !== 'linux',
      changed: node => {
        if (this.#isStarted) this.#changed.add(posix.join(root, node.path))
      },
      settled: () => {
        if (this.#changed.size > 0) changed([...this.#changed])
        this.#changed.clear()
      },
      problem: (path, error) => problem(posix.join(root, path), error),
    })
  }

  async start(): Promise<void> {
    await this.#tree.start()
    this.#isStarted = true
  }

  close(): void {
    this.#tree.close()
  }
}
