import { isFolder } from '../core/entry.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { KEPT_BYTES } from '../stage/trash.ts'
import type { FolderState, LostFiles } from './folder-state.ts'

/**
 * Time in milliseconds that has to pass without another deletion before the waiting deletions are judged. A container
 * reports deletions every 200 ms.
 */
const REST = 30
const REST_OF_MANY = 300
/**
 * Same as `REST`, but for thousands of deletions, in milliseconds. So many deletions may overflow the watchers of the
 * container, which then scans everything again a second later.
 */
const REST_OF_THOUSANDS = 2_500
const MANY = 5
const THOUSANDS = 1_000
const LONGEST = 10_000
/**
 * Time for which many files may be missing before the user is asked, in milliseconds: a build may delete its output
 * folder and take some time to fill it again.
 */
const PATIENCE = 3_000
/** Time within which deletions count as parts of one loss, in milliseconds. */
const WINDOW = 10_000
/** Minimum number of deleted files for which losing more than half of all files is a reason to ask. */
const HANDFUL = 8
/**
 * Numbers of deleted files and bytes above which the user is asked, regardless of how many files remain. The trash is
 * only guaranteed to hold this many bytes.
 */
const BULK = { files: 1_000, bytes: KEPT_BYTES }
/** Minimum number of deleted files that is reported. */
const NOTED = 100

/** Number and total bytes of missing files. */
interface Lost {
  readonly files: number
  readonly bytes: number
}

/**
 * Deletions in the container that have not been applied to the laptop yet. They wait until no more arrive, and are
 * judged together. Files whose versions all came from the container, such as build results, are deleted without being
 * counted.
 */
export class Deletions {
  readonly #state: FolderState
  readonly #held = new Set<TreeNode>()
  /** Deletions that were released and may be applied. */
  readonly #released = new Set<TreeNode>()
  /**
   * Files and links that were recently deleted on the laptop because of the container, by path, with the time of the
   * deletion and the size. Excludes files whose versions all came from the container.
   */
  readonly #recent = new Map<string, { readonly time: number; readonly size: number }>()
  #first = 0
  #last = 0
  #timer: (() => void) | undefined
  /** True if too many files are missing, but may still reappear. */
  #isMuch = false
  /** Called when too many files are missing, so that the user must be asked. */
  onLoss: (loss: LostFiles) => void = () => {}

  constructor(state: FolderState) {
    this.#state = state
  }

  /** Returns true if the deletion has to wait. */
  holds(node: TreeNode): boolean {
    if (this.#released.has(node)) return false
    this.#last = this.#state.world.clock.now()
    if (this.#held.size === 0) {
      this.#first = this.#last
      this.#isMuch = false
    }
    this.#held.add(node)
    this.#state.setBusy(node)
    this.#timer ??= this.#wait()
    return true
  }

  /**
   * Extends the wait if many files are missing: the container has just created a file, and may be about to create the
   * others again.
   */
  wait(): void {
    if (this.#isMuch) this.#last = this.#state.world.clock.now()
  }

  /** Stops holding the deletion of a path that exists again, or will be replaced. */
  letGo(node: TreeNode): void {
    this.#released.delete(node)
    if (this.#held.delete(node)) this.#state.again(node)
  }

  /** Records that a deletion is about to be applied. */
  made(node: TreeNode): void {
    this.#released.delete(node)
    const { base, local } = node
    if (local && !isFolder(local) && !base?.isTheirs)
      this.#recent.set(node.path, { time: this.#state.world.clock.now(), size: local.size })
  }

  /** Puts all waiting deletions back into the queue. */
  drop(): void {
    this.#timer?.()
    this.#timer = undefined
    for (const node of [...this.#held]) this.letGo(node)
    this.#released.clear()
  }

  /** Releases all waiting deletions, regardless of their number. */
  release(): void {
    for (const node of this.#held) {
      this.#released.add(node)
      this.#state.again(node)
    }
    this.#held.clear()
  }

  /** Forgets the applied deletions, so that they no longer count. */
  forget(): void {
    this.#recent.clear()
  }

  #wait(): () => void {
    const { clock } = this.#state.world
    return clock.after(Math.max(0, this.#end - clock.now()), () => {
      this.#timer = undefined
      if (this.#held.size === 0 || this.#state.isClosed) return
      if (clock.now() < this.#end) this.#timer = this.#wait()
      else this.#judge()
    })
  }

  get #end(): number {
    const { size } = this.#held
    const rest = size < MANY ? REST : size < THOUSANDS ? REST_OF_MANY : REST_OF_THOUSANDS
    return Math.min(this.#last + (this.#isMuch ? PATIENCE : rest), this.#first + LONGEST)
  }

  #judge(): void {
    const loss = this.loss()
    if (loss && !this.#isMuch) {
      this.#isMuch = true
      this.#timer = this.#wait()
      return
    }
    this.#isMuch = false
    if (loss) this.onLoss(loss)
    else {
      this.#tell(lostIn(this.#held).files)
      this.release()
    }
    this.#state.world.rested()
  }

  #tell(files: number): void {
    const { world, name } = this.#state
    if (files >= NOTED) world.report({ kind: 'deleted', folder: name, files, kept: world.deleted.folder })
  }

  /**
   * Returns the counts of a loss of files in the container that is so large that it may be a mistake: all files that
   * the laptop has made, everything except names that begin with a dot, more than half of the files, or more than
   * `BULK`. Returns undefined if there is no such loss.
   */
  loss(): LostFiles | undefined {
    const { tree, agreedFiles, ownFiles, queue } = this.#state
    const since = this.#state.world.clock.now() - WINDOW
    const made: string[] = []
    let bytes = 0
    for (const [path, { time, size }] of this.#recent) {
      const node = tree.find(path)
      if (time < since) this.#recent.delete(path)
      // The path may have been created again in the meantime.
      else if (!node?.remote && !node?.base) {
        made.push(path)
        bytes += size
      }
    }
    const isComplete = this.#held.size < MANY && queue.size === 0
    const lost = lostIn(isComplete ? this.#held : tree.walk())
    const files = made.length + lost.files
    const of = Math.max(files, agreedFiles + made.length)
    const isMost = files >= HANDFUL && 2 * files > of
    const isAll = files >= 2 && files >= ownFiles + made.length
    const isBulk = files > BULK.files || bytes + lost.bytes > BULK.bytes
    return isMost || isAll || isBulk || this.#isEmptied(made, files) ? { files, of } : undefined
  }

  #isEmptied(made: readonly string[], files: number): boolean {
    const lost = new Set(made.filter(path => !path.includes('/')))
    const left = new Set<string>()
    for (const { name, base, remote } of this.#state.tree.children?.values() ?? [])
      if (base?.local && base.remote && (remote || !base.isTheirs)) (remote ? left : lost).add(name)
    const hasPlain = [...left, ...lost].some(isPlain)
    const counts = (name: string) => isPlain(name) || !hasPlain
    return ![...left].some(counts) && ([...lost].filter(counts).length >= 2 || files >= 2)
  }
}

const isPlain = (name: string): boolean => !name.startsWith('.')

/**
 * Counts the files that both sides had and that no longer exist in the container, except files whose versions all came
 * from the container.
 */
function lostIn(nodes: Iterable<TreeNode>): Lost {
  let files = 0
  let bytes = 0
  for (const { base, local, remote } of nodes) {
    if (!base?.local || !base.remote || base.isTheirs || !local || isFolder(local) || remote) continue
    files++
    bytes += local.size
  }
  return { files, bytes }
}
