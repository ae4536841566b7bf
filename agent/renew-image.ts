import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, type Stats } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { joinPath, placeIn } from '../sync/core/paths.ts'
import { isMissing, nodeDisk } from '../sync/stage/disk.ts'
import { writeOwn } from '../sync/stage/disk-files.ts'
import { SyncVolume } from '../sync/stage/volume.ts'

/** Differences between a folder in the volume and the image from which the folder was filled. */
interface Kept {
  /** Paths that the container or the laptop has changed or created since the folder was filled. */
  readonly paths: readonly string[]
  /** Paths that this image or an earlier one contains, but that have been deleted from the folder. */
  readonly gone: readonly string[]
  /**
   * The move of the new image's files, once an agent has begun it. Undefined while the files that the new image lacks
   * are still being deleted.
   */
  readonly begun?: Begun
}

/** The move of files from the copy of a new image to the folder. Once it has begun, the copy is no longer complete. */
interface Begun {
  /** Name of the new image. */
  readonly image: string
  /** Paths that come from the new image, each folder before its contents. */
  readonly coming: readonly string[]
}

/**
 * Replaces the files of the old image in a folder with the files of a new image, whose copy is next to the folder as
 * `.devctl/new-FOLDER`. Files that were changed or deleted since the folder was filled stay changed or deleted. Files
 * that the new image lacks are deleted only in folders that are not synchronized, such as node_modules. If the agent is
 * killed midway, the next agent continues.
 */
export function renewImage(root: string, folder: { readonly name: string; readonly path: string }): void {
  const own = (what: string) => `${root}/.devctl/${what}-${folder.name}`
  const from = own('new')
  if (!stat(from)) return
  const newImage = readFileSync(`${from}.image`)
  // An agent that was killed while it deleted the copy has left `filled`.
  if (!stat(own('filled')) || !readFileSync(own('filled')).equals(newImage)) bringImage(root, folder, newImage, own)
  rmSync(from, { recursive: true, force: true })
  rmSync(`${from}.image`, { force: true })
}

function bringImage(
  root: string,
  { name, path }: { readonly name: string; readonly path: string },
  newImage: Buffer,
  own: (what: string) => string,
): void {
  const volume = new SyncVolume(nodeDisk, root)
  const image = volume.imageEntries(name)
  const unsynced = volume.unsyncedFolders(name)
  const kept = readUnfinished(own) ?? findKept(`${root}/${path}`, [...(image?.keys() ?? [])], own)
  const renewal = new Renewal(`${root}/${path}`, own('new'), kept)
  const save = (one: Kept) => writeOwn(nodeDisk, own('renewing'), gzipSync(JSON.stringify(one)))
  const begin = (): Begun => {
    save(kept)
    for (const folder of unsynced) renewal.removeOld(folder)
    return { image: newImage.toString(), coming: renewal.coming('') }
  }
  const begun = kept.begun?.image === newImage.toString() ? kept.begun : begin()
  save({ ...kept, begun })
  for (const one of begun.coming) renewal.bring(one)
  if (image) {
    for (const one of begun.coming) {
      const entry = isBelow(one, unsynced) ? undefined : nodeDisk.entry(`${root}/${path}/${one}`)
      if (entry && entry !== 'other') image.set(one, entry)
    }
    volume.setImageEntries(name, image)
  }
  renameSync(own('renewing'), own('kept'))
  // The modification time of `filled` is the time at which the last file of the image was written.
  writeOwn(nodeDisk, own('filled'), newImage)
}

/** Returns the record of a replacement (`renewImage`) that an agent has not completed; undefined if there is none. */
function readUnfinished(own: (what: string) => string): Kept | undefined {
  const [kept, filled] = [stat(own('kept')), stat(own('filled'))]
  // `filled` is written last: if it is older, the agent was killed before that.
  const isUnfinished = kept && filled && kept.mtimeMs > filled.mtimeMs
  return readKept(own('renewing')) ?? (isUnfinished ? readKept(own('kept')) : undefined)
}

function findKept(folder: string, image: readonly string[], own: (what: string) => string): Kept {
  const before = readKept(own('kept'))
  const old = new Set(before?.paths)
  // The change time (ctime) also reveals files written with an old modification time. Without a record, all files count
  // as changed.
  const filled = stat(own('filled'))?.ctimeMs ?? -Infinity
  const paths = [...below(folder, '')].filter(([path, { ctimeMs }]) => ctimeMs > filled || old.has(path))
  const gone = [...(before?.gone ?? []), ...image].filter(path => !stat(`${folder}/${path}`))
  return { paths: paths.filter(([, one]) => !one.isDirectory()).map(([path]) => path), gone: [...new Set(gone)] }
}

class Renewal {
  readonly #folder: string
  readonly #from: string
  readonly #kept: ReadonlySet<string>
  readonly #gone: ReadonlySet<string>

  constructor(folder: string, from: string, { paths, gone }: Kept) {
    this.#folder = folder
    this.#from = from
    this.#kept = new Set(paths)
    this.#gone = new Set(gone)
  }

  /**
   * Deletes the files of a folder that are unchanged and missing in the new image, and the folders that become empty.
   */
  removeOld(folder: string): void {
    // Reversed, so that the contents of a folder come before the folder.
    for (const [path, there] of [...below(this.#folder, folder)].reverse()) {
      const coming = stat(`${this.#from}/${path}`)
      // A folder stays only as a folder: if it has become empty, a file of the new image replaces it.
      const stays = coming && (coming.isDirectory() || !there.isDirectory())
      if (this.#kept.has(path) || stays) continue
      const place = `${this.#folder}/${path}`
      if (!there.isDirectory()) rmSync(place, { force: true })
      else if (readdirSync(place).length === 0) rmdirSync(place)
    }
  }

  /** Returns the paths below a folder that come from the new image, each folder before its contents. */
  coming(folder: string): readonly string[] {
    return readdirSync(placeIn(this.#from, folder)).flatMap(name => {
      const path = joinPath(folder, name)
      if (this.#kept.has(path) || this.#gone.has(path)) return []
      if (lstatSync(placeIn(this.#from, path)).isDirectory()) return [path, ...this.coming(path)]
      return stat(placeIn(this.#folder, path))?.isDirectory() ? [] : [path]
    })
  }

  /** Moves a file of the new image to the folder, or creates a folder of the image. */
  bring(path: string): void {
    const [source, place] = [placeIn(this.#from, path), placeIn(this.#folder, path)]
    const [coming, there] = [stat(source), stat(place)]
    // An agent that was killed has already moved it.
    if (!coming) return
    if (!coming.isDirectory()) {
      if (!there?.isDirectory()) renameSync(source, place)
      return
    }
    if (there && !there.isDirectory()) rmSync(place)
    if (!there?.isDirectory()) mkdirSync(place)
  }
}

/** Yields everything below a folder, each folder before its contents. */
function* below(root: string, folder: string): Generator<readonly [path: string, there: Stats]> {
  if (!stat(placeIn(root, folder))?.isDirectory()) return
  for (const name of readdirSync(placeIn(root, folder))) {
    const path = joinPath(folder, name)
    const there = stat(placeIn(root, path))
    if (!there) continue
    yield [path, there]
    yield* below(root, path)
  }
}

function stat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const isBelow = (path: string, folders: readonly string[]): boolean =>
  folders.some(folder => path.startsWith(`${folder}/`))

function readKept(file: string): Kept | undefined {
  if (!stat(file)) return undefined
  try {
    return JSON.parse(gunzipSync(readFileSync(file)).toString()) as Kept // we have written it
  } catch {
    return undefined
  }
}
