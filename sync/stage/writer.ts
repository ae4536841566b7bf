import { randomBytes } from 'node:crypto'
import { copyEntry, type FileEntry, isUntouched } from '../core/entry.ts'
import { outsideProblem } from '../core/paths.ts'
import { type Disk, errorCode, isMissing } from './disk.ts'

/** Change to one path, and the entry that the path must have for the change to be applied. */
export interface PathChange {
  readonly path: string
  readonly expect: FileEntry | undefined
  readonly change:
    | ({ readonly kind: 'file' } & NewFile)
    | ({ readonly kind: 'folder' | 'remove' } & Taking)
    | ({ readonly kind: 'link'; readonly target: string } & Taking)
    | { readonly kind: 'meta'; readonly mtime?: number; readonly executable?: boolean }
    /** Complete file in the stage. */
    | { readonly kind: 'staged'; readonly stage: string; readonly mtime: number; readonly executable?: boolean }
}

interface Taking {
  /** Moves the file at the absolute path away, instead of deleting it. */
  readonly take?: (place: string) => void
}

interface NewFile {
  readonly bytes: Uint8Array
  readonly mtime: number
  readonly executable?: boolean
}

export type WriteResult =
  | { readonly kind: 'done'; readonly entry: FileEntry | undefined }
  /** The entry of the path is not as expected. */
  | { readonly kind: 'changed'; readonly entry: FileEntry | undefined }
  /** The folder to delete is not empty. */
  | { readonly kind: 'not-empty' }

export interface WriterOptions {
  readonly disk: Disk
  readonly root: string
  /**
   * Folder on the same volume for files that are being written. If undefined, they are written next to their
   * destination.
   */
  readonly stage?: string
  /**
   * Mode for replacing small files. Writing in place helps because many watchers miss a file that is renamed to its
   * path.
   */
  readonly write: WriteMode
}

/**
 * Modes of writing a file. `mounted` always writes in place, regardless of the size: the container mounts the file
 * itself, and would keep the old file after a rename.
 */
export type WriteMode = 'auto' | 'rename' | 'inplace' | 'mounted'

/** Maximum size of a file that is written in place, in bytes. */
export const SMALL_FILE = 1 << 20

/** Prefix for the names of local files that are being written. Such files are never synchronized. */
export const TEMPORARY = '.devctl-part-'

const IS_TEMPORARY = /\/\.devctl-part-[0-9a-f]{12}$/

/**
 * Deletes a temporary file of devctl that a killed process has left. Keeps files that were changed after `begun`, and
 * files with other names.
 */
export function removeLeftover(disk: Disk, place: string, begun: number): void {
  if (!IS_TEMPORARY.test(place)) return
  try {
    const entry = disk.entry(place)
    if (entry === undefined || entry === 'other' || entry.kind === 'folder' || entry.ctime >= begun) return
    disk.removeFile(place)
  } catch {
    // The file is already deleted, or the next session will delete it.
  }
}

/**
 * Changes the files of one side. A change is applied only if the path has the expected entry, and never through a link:
 * the parent folders are checked first. Throws the errors of the file system.
 */
export class Writer {
  readonly #disk: Disk
  readonly #options: WriterOptions
  /** True if no process watches the files yet, so that new files do not need a stage. */
  isUnwatched = false
  #folder = ''
  #isFolder = false

  constructor(options: WriterOptions) {
    this.#options = options
    this.#disk = options.disk
  }

  /** Forgets the last checked folder, because other work may have changed it. */
  begin(): void {
    this.#folder = ''
    this.#isFolder = false
  }

  write({ path, expect, change }: PathChange): WriteResult {
    const problem = outsideProblem(path)
    if (problem) throw new Error(problem)
    if (!this.#hasFolder(path)) return { kind: 'changed', entry: undefined }
    const place = this.place(path)
    if (this.isUnwatched && !expect && change.kind === 'file') return this.#writeNew(place, change)
    const there = this.#entry(place)
    if (!isUntouched(expect, there)) {
      if (change.kind === 'folder' && there?.kind === 'folder') return { kind: 'done', entry: there }
      if (change.kind === 'remove' && !there) return { kind: 'done', entry: undefined }
      return { kind: 'changed', entry: there }
    }
    try {
      return this.#change(place, there, change)
    } catch (error) {
      if (error instanceof ChangedMeanwhile) return { kind: 'changed', entry: this.#entry(place) }
      throw error
    }
  }

  #change(place: string, there: FileEntry | undefined, change: PathChange['change']): WriteResult {
    if (this.#options.write === 'mounted' && there?.kind === 'file') return this.#changeMounted(place, change)
    switch (change.kind) {
      case 'remove':
        return this.#remove(place, there, change)
      case 'meta':
        this.#withFile(place, 'read', file => this.#setMeta(file, change))
        break
      case 'folder':
        if (there?.kind === 'folder') break
        if (there) this.#takeAway(place, change)
        this.#disk.makeFolder(place)
        break
      case 'file':
        if (there?.kind === 'folder' && !this.#removeFolder(place)) return { kind: 'not-empty' }
        this.#writeFile(place, there, change)
        break
      case 'staged':
        if (there?.kind === 'folder' && !this.#removeFolder(place)) return { kind: 'not-empty' }
        this.#withFile(change.stage, 'read', file => {
          if (there?.kind === 'file') this.#disk.copyMode(place, file)
          this.#setMeta(file, change)
        })
        this.#disk.rename(change.stage, place)
        break
      case 'link':
        if (there?.kind === 'folder' && !this.#removeFolder(place)) return { kind: 'not-empty' }
        if (there?.kind === 'file') change.take?.(place)
        this.#replace(place, this.#entry(place), stage => this.#disk.makeLink(change.target, stage))
    }
    return this.#written(place, change)
  }

  #written(place: string, change: PathChange['change']): WriteResult {
    const entry = this.#entry(place)
    // If another process has written to the file since, its entry is not the one that was written here.
    return { kind: isWritten(change, entry) ? 'done' : 'changed', entry }
  }

  /** Changes a file that the container mounts directly, and that must therefore not be replaced by another file. */
  #changeMounted(place: string, change: PathChange['change']): WriteResult {
    switch (change.kind) {
      case 'file':
        this.#withFile(place, 'update', file => {
          this.#overwrite(place, file, this.#disk.opened(file)?.size ?? 0, change.bytes)
          this.#setMeta(file, change)
        })
        break
      case 'staged':
        this.#withFile(place, 'update', file => {
          this.#copy(change.stage, file)
          this.#setMeta(file, change)
        })
        this.discard(change.stage)
        break
      case 'meta':
        this.#withFile(place, 'read', file => this.#setMeta(file, change))
        break
      default:
        throw new Error('the file is mounted in the container, and stays there')
    }
    return this.#written(place, change)
  }

  #copy(from: string, to: number): void {
    const piece = Buffer.alloc(SMALL_FILE)
    let size = 0
    this.#withFile(from, 'read', file => {
      for (let read = 1; read > 0; size += read) {
        read = this.#disk.read(file, piece, size)
        if (read > 0) this.#disk.write(to, piece.subarray(0, read), size)
      }
    })
    this.#disk.truncate(to, size)
  }

  #remove(place: string, there: FileEntry | undefined, how: Taking): WriteResult {
    if (there?.kind === 'folder') return this.#removeFolder(place) ? DELETED : { kind: 'not-empty' }
    if (there) this.#takeAway(place, how)
    return DELETED
  }

  #takeAway(place: string, { take }: Taking): void {
    if (take) take(place)
    else this.#disk.removeFile(place)
  }

  /**
   * Deletes an empty folder. Returns false if it is not empty: folders are never deleted together with their contents.
   */
  #removeFolder(place: string): boolean {
    this.begin()
    try {
      this.#disk.removeFolder(place)
      return true
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '')) return false
      if (isMissing(error)) return true
      throw error
    }
  }

  #writeFile(place: string, there: FileEntry | undefined, change: NewFile): void {
    const { bytes, executable } = change
    if (there?.kind === 'file' && this.#fitsInPlace(there, bytes) && this.#writeInPlace(place, there, change)) return
    // If no execute bit is given, the existing bit is kept.
    const isExecutable = executable ?? there?.executable ?? isScript(bytes)
    this.#replace(place, there, stage => {
      const like = there?.kind === 'file' ? place : undefined
      this.#create(stage, change, isExecutable, like)
    })
  }

  /**
   * Creates a file directly at its path, because no process watches the files yet. If a file already exists, the result
   * is `changed`.
   */
  #writeNew(place: string, change: NewFile): WriteResult {
    try {
      return { kind: 'done', entry: this.#create(place, change, change.executable ?? isScript(change.bytes)) }
    } catch (error) {
      if (errorCode(error) === 'EEXIST') return { kind: 'changed', entry: this.#entry(place) }
      this.discard(place)
      throw error
    }
  }

  /** Creates a new file with the permissions of the file `like`, if it is given, and returns its entry. */
  #create(place: string, { bytes, mtime }: NewFile, executable: boolean, like?: string): FileEntry {
    const file = this.#disk.open(place, 'create', executable)
    try {
      if (like !== undefined) this.#copyMode(like, file, executable)
      if (bytes.length > 0) this.#disk.write(file, bytes, 0)
      this.#disk.setTimes(file, mtime)
      return copyEntry(this.#disk.opened(file)!)
    } finally {
      this.#disk.close(file)
    }
  }

  #copyMode(like: string, file: number, executable: boolean): void {
    this.#disk.copyMode(like, file)
    this.#setMeta(file, { executable })
  }

  #fitsInPlace(there: FileEntry, bytes: Uint8Array): boolean {
    const { write } = this.#options
    if (write === 'rename' || there.size > SMALL_FILE || bytes.length > SMALL_FILE) return false
    return write === 'inplace' || !bytes.includes(0)
  }

  /**
   * Writes a file in place. Returns false if that is not possible, because the file has another hard link or is not
   * writable.
   */
  #writeInPlace(place: string, there: FileEntry, { bytes, mtime, executable }: NewFile): boolean {
    let file: number
    try {
      file = this.#disk.open(place, 'update')
    } catch {
      return false
    }
    try {
      const opened = this.#disk.opened(file)
      if (opened?.links !== 1) return false
      if (!isUntouched(there, opened)) throw new ChangedMeanwhile()
      this.#overwrite(place, file, opened.size, bytes)
      this.#setMeta(file, { mtime, ...(executable !== opened.executable && { executable }) })
      return true
    } finally {
      this.#disk.close(file)
    }
  }

  /**
   * Overwrites a file with a single write, so that no process reads a half-written file. If the disk is full, the old
   * contents are restored.
   */
  #overwrite(place: string, file: number, size: number, bytes: Uint8Array): void {
    const old = bytes.length > size ? this.#contents(place, size) : undefined
    try {
      if (bytes.length > 0) this.#disk.write(file, bytes, 0)
    } catch (error) {
      if (old) {
        this.#disk.truncate(file, size)
        if (size > 0) this.#disk.write(file, old, 0)
      }
      throw error
    }
    if (size > bytes.length) this.#disk.truncate(file, bytes.length)
  }

  #contents(place: string, size: number): Buffer {
    const bytes = Buffer.alloc(size)
    this.#withFile(place, 'read', file => this.#disk.read(file, bytes, 0))
    return bytes
  }

  #setMeta(
    file: number,
    { mtime, executable }: { readonly mtime?: number; readonly executable?: boolean | undefined },
  ) {
    if (executable !== undefined && this.#disk.opened(file)?.executable !== executable)
      this.#disk.setExecutable(file, executable)
    if (mtime !== undefined) this.#disk.setTimes(file, mtime)
  }

  /** Fills a temporary file and renames it to the path, if the path has not changed in the meantime. */
  #replace(place: string, there: FileEntry | undefined, fill: (stage: string) => void): void {
    const stage = this.stageFor(place)
    this.#orRemove(stage, made => {
      fill(made)
      if (!isUntouched(there?.kind === 'folder' ? undefined : there, this.#entry(place))) throw new ChangedMeanwhile()
      this.#disk.rename(made, place)
    })
  }

  /** Returns a path for a temporary file that will be renamed to `place`. */
  stageFor(place: string): string {
    const name = TEMPORARY + randomBytes(6).toString('hex')
    const { stage } = this.#options
    return stage ? `${stage}/${name}` : `${place.slice(0, place.lastIndexOf('/') + 1)}${name}`
  }

  #orRemove(path: string, work: (path: string) => void): void {
    try {
      work(path)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') this.discard(path)
      throw error
    }
  }

  /** Deletes an unneeded temporary file of devctl, if it exists. */
  discard(path: string): void {
    try {
      this.#disk.removeFile(path)
    } catch (error) {
      if (!isMissing(error)) return
    }
  }

  #withFile(path: string, how: 'read' | 'update', work: (file: number) => void): void {
    const file = this.#disk.open(path, how)
    try {
      work(file)
    } finally {
      this.#disk.close(file)
    }
  }

  /** Returns true if all parents of the path are real folders. */
  #hasFolder(path: string): boolean {
    const end = path.lastIndexOf('/')
    const folder = end === -1 ? '' : path.slice(0, end)
    if (this.#isFolder && folder === this.#folder) return true
    this.#isFolder = this.#isRealFolder(folder)
    this.#folder = folder
    return this.#isFolder
  }

  #isRealFolder(folder: string): boolean {
    if (this.#entry(this.#options.root)?.kind !== 'folder') return false
    if (folder === '') return true
    for (let end = folder.indexOf('/'); ; end = folder.indexOf('/', end + 1)) {
      const above = end === -1 ? folder : folder.slice(0, end)
      if (this.#entry(this.place(above))?.kind !== 'folder') return false
      if (end === -1) return true
    }
  }

  /** Returns the absolute path on this machine for a path relative to the root. */
  place(path: string): string {
    return `${this.#options.root}/${path}`
  }

  #entry(place: string): FileEntry | undefined {
    const entry = this.#disk.entry(place)
    if (entry === 'other') throw new Error('what is there is neither a file, a folder nor a link')
    return entry
  }
}

/**
 * Returns true if the entry matches the change. Also returns false if the file system stores the time with a lower
 * precision; the next check of the path then compares the contents.
 */
const isWritten = (change: PathChange['change'], entry: FileEntry | undefined): boolean =>
  change.kind !== 'file' ||
  (entry?.kind === 'file' && entry.size === change.bytes.length && Math.abs(entry.mtime - change.mtime) <= 1)

/** Error for a path that another process has changed after the check. */
class ChangedMeanwhile extends Error {}

const DELETED: WriteResult = { kind: 'done', entry: undefined }

/**
 * Returns true if the bytes start with `#!`. A new file is then executable by default, because it may come from a
 * machine that does not store execute bits.
 */
const isScript = (bytes: Uint8Array): boolean => bytes[0] === 0x23 && bytes[1] === 0x21
