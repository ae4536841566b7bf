import { isFolder } from '../core/entry.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { KEPT_BYTES } from '../stage/trash.ts'
import type { FolderState, LostFiles } from './folder-state.ts'

/**
 * Milliseconds without another deletion after which the waiting ones are judged. A container reports them every 200 ms.
 */
const REST = 30
const REST_OF_MANY = 300
/**
 * Milliseconds for thousands of deletions, which may be too many for the watchers of the container: it reads everything
 * again, a second later.
 */
const REST_OF_THOUSANDS = 2_500
const MANY = 5
const THOUSANDS = 1_000
const LONGEST = 10_000
/**
 * Milliseconds for which many files may be missing before the user is asked: a build deletes its folder, and takes its
 * time to fill it.
 */
const PATIENCE = 3_000
/** Milliseconds for which a deletion counts together with those that follow. */
const WINDOW = 10_000
/** Number of files below which a loss of half of them is no reason to ask. */
const HANDFUL = 8
/**
 * Numbers of files and bytes above which the user is asked, whatever is left: no more bytes than these are sure to be
 * kept.
 */
const BULK = { files: 1_000, bytes: KEPT_BYTES }
/** Number of files from which a deletion is reported. */
const NOTED = 100

/** Missing files, and their bytes. */
interface Lost {
  readonly files: number
  readonly bytes: number
}

/**
 * Deletions that the container has made, and that the laptop has not made yet: they wait until no more come, and are
 * judged together. Files that only the container has ever made, such as those of a build, are deleted without being
 * counted.
 */
export class Deletions {
  readonly #state: FolderState
  readonly #held = new Set<TreeNode>()
  /** Deletions that were found to be few, and may be made. */
  readonly #released = new Set<TreeNode>()
  /** Files and links of the laptop that were deleted here: time of the deletion, and bytes. */
  readonly #recent = new Map<string, { readonly time: number; readonly size: number }>()
  #first = 0
  #last = 0
  #timer: (() => void) | undefined
  /** True if too many files are missing, unless they come back. */
  #isMuch = false
  /** Called when too many files are missing, and the user must be asked. */
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

  /** Waits longer, because the container has created a file and may not be finished. */
  wait(): void {
    if (this.#isMuch) this.#last = this.#state.world.clock.now()
  }

  /** Stops holding the deletion of a path that exists again, or is to become something else. */
  letGo(node: TreeNode): void {
    this.#released.delete(node)
    if (this.#held.delete(node)) this.#state.again(node)
  }

  /** Records that the deletion is made now. */
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

  /** Releases all waiting deletions, whatever their number. */
  release(): void {
    for (const node of this.#held) {
      this.#released.add(node)
      this.#state.again(node)
    }
    this.#held.clear()
  }

  /** Forgets the deletions that were made: they no longer count. */
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
   * Returns the loss of the container, if it is so large that it may be a mistake: everything that the laptop has made,
   * all but names that begin with a dot, more than half of the files, or more than is kept here.
   */
  loss(): LostFiles | undefined {
    const { tree, agreedFiles, ownFiles, queue } = this.#state
    const since = this.#state.world.clock.now() - WINDOW
    const made: string[] = []
    let bytes = 0
    for (const [path, { time, size }] of this.#recent) {
      const node = tree.find(path)
      if (time < since) this.#recent.delete(path)
      // The path may have been created again meanwhile.
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
 * Counts the files that both sides had, and the container no longer has; not those that only the container has ever
 * made.
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
