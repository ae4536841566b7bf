import { copyEntry, decodeEntry, encodeEntry, type FileEntry } from '../core/entry.ts'
import { hashPieces } from '../core/hash.ts'
import { outsideProblem, placeIn } from '../core/paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { decodeAgreed, encodeAgreed, loadBase, saveBase } from './base-file.ts'
import type { Disk } from './disk.ts'
import { Journal, readJournal, removeJournal } from './journal.ts'

/** In a line of the journal, instead of what a side has: it is about to have what the other side has. */
const BEGUN = 0

/** What is known from earlier sessions. */
export interface FoundBase {
  /** The container's own folders. */
  readonly own: readonly string[]
  /** What was sent when nobody was left to hear what came of it. */
  readonly sent: ReadonlyMap<string, FileEntry>
}

/**
 * What both sides have agreed on about a folder, as the next session finds it, also if this one is killed: the base as
 * it was last saved, and a journal of what has changed since.
 */
export class SavedBase {
  readonly #disk: Disk
  readonly #file: string
  readonly #root: string
  #volume = ''
  /** Undefined before it is known whose volume it is. */
  #journal: Journal | undefined

  constructor(disk: Disk, file: string, root: string) {
    this.#disk = disk
    this.#file = file
    this.#root = root
  }

  get #prefix(): string {
    return `${this.#file}.journal-`
  }

  /** Bytes of the journal. */
  get size(): number {
    return this.#journal?.size ?? 0
  }

  /** Forgets what is on the disk. */
  begin(volume: string): void {
    this.#begin(volume, 0)
    removeJournal(this.#disk, this.#prefix, () => true)
    this.#removeFile()
  }

  /** Reads it into a tree. Undefined if nothing was agreed on with that volume. */
  load(volume: string, tree: TreeNode): FoundBase | undefined {
    const isThere = this.#disk.entry(this.#file) !== undefined
    const base = isThere ? loadBase(this.#disk, this.#file, { volume, root: this.#root }, tree) : undefined
    if (isThere && !base) {
      this.begin(volume)
      return undefined
    }
    if (base && base.journal === undefined) removeJournal(this.#disk, this.#prefix, () => true)
    const header = this.#header(volume)
    const { lines, last } = readJournal(this.#disk, this.#prefix, header, base?.journal ?? 0)
    this.#begin(volume, last)
    this.#journal!.size = lines.length
    const sent = this.#apply(lines, tree)
    return base || lines.length > 0 ? { own: base?.own ?? [], sent } : undefined
  }

  #header(volume: string): object {
    return { version: 1, volume, root: this.#root }
  }

  #begin(volume: string, last: number): void {
    this.#journal?.close()
    this.#volume = volume
    this.#journal = new Journal(this.#disk, this.#prefix, this.#header(volume), last)
  }

  /** Gives what was sent last without an answer. */
  #apply(lines: readonly unknown[], tree: TreeNode): ReadonlyMap<string, FileEntry> {
    const written = new Map<string, FileEntry>()
    const sent = new Map<string, FileEntry>()
    try {
      for (const line of lines) {
        const [path, local, remote, hash] = line as readonly unknown[]
        if (local === BEGUN || remote === BEGUN) {
          if (typeof path !== 'string' || outsideProblem(path)) break
          const entry = decodeEntry(local === BEGUN ? remote : local)!
          const begun = local === BEGUN ? written : sent
          begun.set(path, typeof hash === 'string' ? copyEntry(entry, { hash }) : entry)
          continue
        }
        const [place, base] = decodeAgreed(line)
        written.delete(place)
        sent.delete(place)
        const node = base.local || base.remote ? tree.at(place) : tree.find(place)
        if (!node) continue
        node.base = base.local || base.remote ? base : undefined
        node.prune()
      }
    } catch {
      // What we know is older than it was.
    }
    for (const [path, remote] of written) {
      const local = this.#written(path, remote)
      if (!local) continue
      const node = tree.at(path)
      node.base = { local, remote }
      // This line is the last one about the path only until something else is written.
      this.agreed(node)
    }
    this.flush()
    return sent
  }

  /** What this machine has, if that is what was written last. */
  #written(path: string, { kind, size, hash, target }: FileEntry): FileEntry | undefined {
    const place = placeIn(this.#root, path)
    try {
      const entry = this.#disk.entry(place)
      if (entry === undefined || entry === 'other' || entry.kind !== kind) return undefined
      if (kind === 'link') return entry.target === target ? entry : undefined
      return hash !== undefined && entry.size === size && this.#hash(place) === hash
        ? copyEntry(entry, { hash })
        : undefined
    } catch {
      return undefined
    }
  }

  #hash(place: string): string {
    const file = this.#disk.open(place, 'read')
    try {
      const pieces = hashPieces(this.#disk, file)
      for (;;) {
        const { done, value } = pieces.next()
        if (done) return value
      }
    } finally {
      this.#disk.close(file)
    }
  }

  /** Both sides have agreed on a path, or do not any more. */
  agreed({ path, base }: TreeNode): void {
    this.#journal?.add(encodeAgreed(path, base))
  }

  /** This machine is about to have what the container has; what came of it, the next session finds out if we are killed. */
  writes(path: string, remote: FileEntry): void {
    this.#journal?.add([path, BEGUN, encodeEntry(remote), remote.hash ?? null])
    this.#journal?.flush()
  }

  /** The container is about to have what this machine has. It counts from `flush` on. */
  sends(path: string, local: FileEntry): void {
    this.#journal?.add([path, encodeEntry(local), BEGUN, local.hash ?? null])
  }

  flush(): void {
    this.#journal?.flush()
  }

  /** Writes the whole base; then only what is on its way is in the journal. */
  async save(tree: TreeNode, own: Iterable<string>, sent: Iterable<readonly [TreeNode, FileEntry]>): Promise<void> {
    const journal = this.#journal
    if (!journal) return
    const last = journal.turn()
    for (const [node, local] of sent) this.sends(node.path, local)
    await saveBase(this.#disk, this.#file, { volume: this.#volume, root: this.#root }, tree, own, last)
    if (journal === this.#journal) removeJournal(this.#disk, this.#prefix, number => number <= last)
  }

  close(): void {
    this.#journal?.close()
  }

  #removeFile(): void {
    try {
      this.#disk.removeFile(this.#file)
    } catch {
      // There is none, or it is written over.
    }
  }
}
