import { copyEntry, decodeEntry, encodeEntry, type FileEntry } from '../core/entry.ts'
import { hashPieces } from '../core/hash.ts'
import { outsideProblem, placeIn } from '../core/paths.ts'
import type { TreeNode } from '../core/tree-node.ts'
import { decodeAgreed, encodeAgreed, loadBase, saveBase } from './base-file.ts'
import type { Disk } from './disk.ts'
import { Journal, readJournal, removeJournal } from './journal.ts'

/**
 * Marker in a journal line, in the place of one side's entry: this side is about to receive the entry of the other
 * side.
 */
const BEGUN = 0

/** State of a folder that earlier sessions have stored. */
export interface FoundBase {
  /** Folders that the container itself has created. */
  readonly own: readonly string[]
  /** Entries, by path, that an earlier session has sent to the container without receiving the result. */
  readonly sent: ReadonlyMap<string, FileEntry>
}

/**
 * Agreed state of a folder on disk: the last saved base, and a journal of the changes since. The next session can load
 * it even if this process is killed.
 */
export class SavedBase {
  readonly #disk: Disk
  readonly #file: string
  readonly #root: string
  #volume = ''
  /** Journal for the current volume; undefined until the volume is known. */
  #journal: Journal | undefined

  constructor(disk: Disk, file: string, root: string) {
    this.#disk = disk
    this.#file = file
    this.#root = root
  }

  get #prefix(): string {
    return `${this.#file}.journal-`
  }

  /** Size of the journal in bytes. */
  get size(): number {
    return this.#journal?.size ?? 0
  }

  /** Starts without an agreed state, and deletes the state on the disk. */
  begin(volume: string): void {
    this.#begin(volume, 0)
    removeJournal(this.#disk, this.#prefix, () => true)
    this.#removeFile()
  }

  /** Reads the agreed state into a tree. Returns undefined if no state is stored for that volume. */
  load(volume: string, tree: TreeNode): FoundBase | undefined {
    const isThere = this.#disk.entry(this.#file) !== undefined
    const base = isThere ? loadBase(this.#disk, this.#file, { volume, root: this.#root }, tree) : undefined
    if (isThere && !base) {
      this.begin(volume)
      return undefined
    }
    if (base && base.journal === undefined) removeJournal(this.#disk, this.#prefix, () => true)
    const header = this.#header(volume)
    const { lines, last, size } = readJournal(this.#disk, this.#prefix, header, base?.journal ?? 0)
    this.#begin(volume, last)
    this.#journal!.size = size
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

  /** Applies the lines of the journal. Returns the entries that were sent and not answered. */
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
      // A line is invalid, so reading stops here; the state is then older than the last one.
    }
    for (const [path, remote] of written) {
      const local = this.#written(path, remote)
      if (!local) continue
      const node = tree.at(path)
      node.base = { local, remote }
      // Record the result now: the journal line of the write proves it only until the file changes again.
      this.agreed(node)
    }
    this.flush()
    return sent
  }

  /**
   * Returns the entry at a path of this machine if its contents equal the contents that were about to be written;
   * otherwise undefined.
   */
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

  /** Records that both sides have agreed on a path, or no longer agree. */
  agreed({ path, base }: TreeNode): void {
    this.#journal?.add(encodeAgreed(path, base))
  }

  /**
   * Records that this machine is about to write the container's version. If this process is killed, the next session
   * checks if the file was written.
   */
  writes(path: string, remote: FileEntry): void {
    this.#journal?.add([path, BEGUN, encodeEntry(remote), remote.hash ?? null])
    this.#journal?.flush()
  }

  /**
   * Records that this machine's version is about to be sent to the container. The record is on disk only after `flush`.
   */
  sends(path: string, local: FileEntry): void {
    this.#journal?.add([path, encodeEntry(local), BEGUN, local.hash ?? null])
  }

  flush(): void {
    this.#journal?.flush()
  }

  /** Writes the full base. Afterwards, the journal only contains the entries in flight. */
  async save(tree: TreeNode, own: Iterable<string>, sent: Iterable<readonly [TreeNode, FileEntry]>): Promise<void> {
    const journal = this.#journal
    if (!journal) return
    const last = journal.turn()
    for (const [node, local] of sent) this.sends(node.path, local)
    await saveBase(this.#disk, this.#file, { volume: this.#volume, root: this.#root }, { tree, own, journal: last })
    if (journal === this.#journal) removeJournal(this.#disk, this.#prefix, number => number <= last)
  }

  close(): void {
    this.#journal?.close()
  }

  #removeFile(): void {
    try {
      this.#disk.removeFile(this.#file)
    } catch {
      // The file does not exist, or will be overwritten.
    }
  }
}
