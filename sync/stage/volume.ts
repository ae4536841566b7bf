import { randomUUID } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { copyEntry, decodeEntry, encodeEntry, type FileEntry, isUntouched } from '../core/entry.ts'
import type { TreeNode } from '../core/tree-node.ts'
import type { Disk } from './disk.ts'
import { makeFolders, readOwn, writeOwn } from './disk-files.ts'

/**
 * State that the agent keeps in `.devctl` of the volume, outside the user's folders:
 *
 * - `volume`: a random ID; the base of a laptop belongs to one volume
 * - `synced`: exists if the volume has been synchronized once, so that the application may start
 * - `own-FOLDER`: folders such as node_modules that the container itself has created
 * - `unsynced-FOLDER`: folders in `own-FOLDER` of which nothing is synchronized
 * - `image-FOLDER`: files of the image, which are the files that existed before anything was synchronized
 * - `stage/`: files that are being written
 *
 * Other components also keep files in `.devctl`, for filling the volume from an image, or from a newer image.
 */
export class SyncVolume {
  readonly id: string
  readonly stage: string
  readonly #disk: Disk
  readonly #folder: string
  /** Paths that were recorded for folders, including those that could not be written to the disk. */
  readonly #noted = new Map<string, readonly string[]>()

  constructor(disk: Disk, root: string) {
    this.#disk = disk
    this.#folder = `${root}/.devctl`
    this.stage = `${this.#folder}/stage`
    makeFolders(disk, this.stage)
    this.#clearStage()
    this.id = this.#readId() ?? this.#makeId()
  }

  get wasSynced(): boolean {
    return this.#disk.entry(`${this.#folder}/synced`) !== undefined
  }

  markSynced(): void {
    if (this.wasSynced) return
    try {
      writeOwn(this.#disk, `${this.#folder}/synced`, Buffer.from('\n'))
    } catch {
      // If the disk is full, the next agent waits for the laptop before the application may start.
    }
  }

  /**
   * Returns true if it was recorded which files of the folder come from the image. Other files may have been
   * synchronized into the folder since.
   */
  hasImage(name: string): boolean {
    return this.#disk.entry(`${this.#folder}/image-${name}`) !== undefined
  }

  ownFolders(name: string): readonly string[] {
    return this.#readPaths(`own-${name}`)
  }

  setOwnFolders(name: string, paths: readonly string[]): void {
    this.#writePaths(`own-${name}`, paths)
  }

  unsyncedFolders(name: string): readonly string[] {
    return this.#readPaths(`unsynced-${name}`)
  }

  setUnsyncedFolders(name: string, paths: readonly string[]): void {
    this.#writePaths(`unsynced-${name}`, paths)
  }

  #readPaths(name: string): readonly string[] {
    const noted = this.#noted.get(name)
    if (noted) return noted
    const text = readOwn(this.#disk, `${this.#folder}/${name}`)?.toString() ?? ''
    return text.split('\0').filter(path => path !== '')
  }

  #writePaths(name: string, paths: readonly string[]): void {
    this.#noted.set(name, paths)
    try {
      writeOwn(this.#disk, `${this.#folder}/${name}`, Buffer.from(paths.join('\0')))
    } catch {
      // If the disk is full, the paths are written next time. An agent that starts before that does not know them.
    }
  }

  /**
   * Returns the recorded entries of the image for a folder, by path; undefined until something has been synchronized.
   */
  imageEntries(name: string): Map<string, FileEntry | undefined> | undefined {
    return this.#readImage(`${this.#folder}/image-${name}`)
  }

  setImageEntries(name: string, entries: ReadonlyMap<string, FileEntry | undefined>): void {
    const found = [...entries].map(([path, entry]) => [path, encodeEntry(entry)])
    writeOwn(this.#disk, `${this.#folder}/image-${name}`, gzipSync(JSON.stringify(found)))
  }

  /** Marks the entries that are unchanged from the image. Before the first sync, that is all entries. */
  markImage(name: string, tree: TreeNode): void {
    const file = `${this.#folder}/image-${name}`
    const known = this.#readImage(file)
    const found: unknown[] = []
    for (const node of tree.walk()) {
      if (!node.local || !node.parent) continue
      const path = node.path
      if (known && !isUntouched(known.get(path), node.local)) continue
      node.local = copyEntry(node.local, { isOfImage: true })
      if (!known) found.push([path, encodeEntry(node.local)])
    }
    if (!known) writeOwn(this.#disk, file, gzipSync(JSON.stringify(found)))
  }

  #readImage(file: string): Map<string, FileEntry | undefined> | undefined {
    const bytes = readOwn(this.#disk, file)
    if (!bytes) return undefined
    try {
      const entries = JSON.parse(gunzipSync(bytes).toString()) as readonly (readonly [string, unknown])[]
      return new Map(entries.map(([path, entry]) => [path, decodeEntry(entry)]))
    } catch {
      // The file was not written by an agent. In that case no file counts as the image's, and all files are copied to
      // the laptop.
      return new Map<string, undefined>()
    }
  }

  #readId(): string | undefined {
    const id = readOwn(this.#disk, `${this.#folder}/volume`)?.toString().trim()
    return id && /^[\w-]{8,64}$/.test(id) ? id : undefined
  }

  #makeId(): string {
    const id = randomUUID()
    writeOwn(this.#disk, `${this.#folder}/volume`, Buffer.from(`${id}\n`))
    return id
  }

  /** Deletes the files that an earlier agent did not finish writing. */
  #clearStage(): void {
    for (const name of this.#disk.list(this.stage)) this.#disk.removeFile(`${this.stage}/${name}`)
  }
}
