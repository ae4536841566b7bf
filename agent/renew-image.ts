import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, type Stats } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { joinPath, placeIn } from '../sync/core/paths.ts'
import { nodeDisk } from '../sync/stage/disk.ts'
import { writeOwn } from '../sync/stage/disk-files.ts'
import { SyncVolume } from '../sync/stage/volume.ts'

/** Differences between a folder and the image that the folder was filled from. */
interface Kept {
  /** Paths that the container or the laptop has changed or created since the folder was filled. */
  readonly paths: readonly string[]
  /** Paths of the image that were deleted since the folder was filled. */
  readonly gone: readonly string[]
}

/**
 * Replaces the files of the old image in a folder with the files of a new image, whose copy is next to the folder as
 * `.devctl/new-FOLDER`. Files that were changed or deleted since the folder was filled stay changed or deleted. Files
 * that the new image lacks are deleted only in folders that are not synchronized, such as node_modules. If the agent is
 * killed midway, the next agent continues.
 */
export function renewImage(root: string, { name, path }: { readonly name: string; readonly path: string }): void {
  const own = (what: string) => `${root}/.devctl/${what}-${name}`
  const from = own('new')
  if (!stat(from)) return
  const volume = new SyncVolume(nodeDisk, root)
  const image = volume.imageEntries(name)
  const unsynced = volume.unsyncedFolders(name)
  const kept = readKept(own('renewing')) ?? findKept(`${root}/${path}`, [...(image?.keys() ?? [])], own)
  writeOwn(nodeDisk, own('renewing'), gzipSync(JSON.stringify(kept)))
  const renewal = new Renewal(`${root}/${path}`, from, kept)
  for (const folder of unsynced) renewal.removeOld(folder)
  renewal.bring('')
  if (image) {
    for (const one of renewal.brought) {
      const entry = isBelow(one, unsynced) ? undefined : nodeDisk.entry(`${root}/${path}/${one}`)
      if (entry && entry !== 'other') image.set(one, entry)
    }
    volume.setImageEntries(name, image)
  }
  renameSync(own('renewing'), own('kept'))
  // The modification time of `filled` is the time at which the last file of the image was written.
  writeOwn(nodeDisk, own('filled'), readFileSync(`${from}.image`))
  rmSync(from, { recursive: true, force: true })
  rmSync(`${from}.image`, { force: true })
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
  /** Paths that now come from the new image. */
  readonly brought: string[] = []

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
      if (this.#kept.has(path) || stat(`${this.#from}/${path}`)) continue
      const place = `${this.#folder}/${path}`
      if (!there.isDirectory()) rmSync(place, { force: true })
      else if (readdirSync(place).length === 0) rmdirSync(place)
    }
  }

  bring(folder: string): void {
    for (const name of readdirSync(placeIn(this.#from, folder))) {
      const path = joinPath(folder, name)
      if (this.#kept.has(path) || this.#gone.has(path)) continue
      const [source, place] = [placeIn(this.#from, path), placeIn(this.#folder, path)]
      const there = stat(place)
      if (lstatSync(source).isDirectory()) {
        if (there && !there.isDirectory()) rmSync(place)
        if (!there?.isDirectory()) mkdirSync(place)
        this.bring(path)
      } else if (there?.isDirectory()) continue
      else renameSync(source, place)
      this.brought.push(path)
    }
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

const stat = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false })

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
