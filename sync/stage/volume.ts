import { randomUUID } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { copyEntry, decodeEntry, encodeEntry, type FileEntry, isUntouched } from '../core/entry.ts'
import type { TreeNode } from '../core/tree-node.ts'
import type { Disk } from './disk.ts'
import { makeFolders, readOwn, writeOwn } from './disk-files.ts'

/**
 * State that the agent keeps in `.devctl` of the volume, outside the user's folders:
 *
 * - `volume`: a random id; the base of a laptop belongs to one volume
 * - `synced`: the application may start; the volume has been synchronized once
 * - `own-FOLDER`: folders such as node_modules that are the container's own
 * - `unsynced-FOLDER`: those of them of which nothing is synchronized
 * - `image-FOLDER`: the files that existed before anything was synchronized, which are those of the image
 * - `stage/`: files that are being written
 *
 * Other components keep there what they need to fill the volume from an image, and from another one.
 */
export class SyncVolume {
  readonly id: string
  readonly stage: string
  readonly #disk: Disk
  readonly #folder: string
  /** Paths that were noted for folders, also if they could not be written. */
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
      // On a full disk, the next agent waits for the laptop before it lets the application start.
    }
  }

  /** Returns true if something may have been synchronized into the folder. */
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
      // On a full disk, the paths are written the next time. An agent that starts before then does not know them.
    }
  }

  /** Returns the entries of the image; undefined before anything was synchronized. */
  imageEntries(name: string): Map<string, FileEntry | undefined> | undefined {
    return this.#readImage(`${this.#folder}/image-${name}`)
  }

  setImageEntries(name: string, entries: ReadonlyMap<string, FileEntry | undefined>): void {
    const found = [...entries].map(([path, entry]) => [path, encodeEntry(entry)])
    writeOwn(this.#disk, `${this.#folder}/image-${name}`, gzipSync(JSON.stringify(found)))
  }

  /** Marks the entries that are unchanged from the image. Before the first sync, these are all. */
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
      // Not written by an agent. No file counts as the image's then, and everything is copied to the laptop.
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

  /** Deletes the files that an earlier agent was writing. */
  #clearStage(): void {
    for (const name of this.#disk.list(this.stage)) this.#disk.removeFile(`${this.stage}/${name}`)
  }
}
