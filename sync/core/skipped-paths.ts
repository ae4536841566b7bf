import { joinPath } from './paths.ts'

/** Path that cannot be synchronized regardless of the settings, and the reason. The file stays where it is. */
export interface SkippedPath {
  /** Name of the sync folder. */
  readonly folder: string
  readonly path: string
  readonly side: 'local' | 'remote'
  readonly message: string
}

/** Paths that are skipped. */
export interface SkippedPathList {
  /** Number of skipped paths. At most `REMEMBERED` paths are counted per side of a sync folder. */
  readonly count: number
  /** First skipped paths. */
  readonly paths: readonly SkippedPath[]
}

export const NOT_UTF8 = 'the name is not valid UTF-8'
export const NO_FILE = 'pipes, sockets and devices are not synchronized'

/** Maximum number of reported paths, and of remembered paths per side of a folder. */
const TOLD = 20
const REMEMBERED = 1_000
/** Maximum length of a path or message from the other side, in characters. */
const LONGEST = 200

/** Paths on one side of a sync folder that cannot be synchronized, with the reasons. */
export class SkippedPaths {
  /** Reasons why paths are skipped. The outer keys are folders, the inner keys are names in the folder. */
  readonly #folders = new Map<string, Map<string, string>>()
  #count = 0
  /** Counter that is incremented with each change. */
  version = 0

  get count(): number {
    return this.#count
  }

  /** Adds a path; returns true if it was not skipped before. */
  add(path: string, message: string): boolean {
    const [folder, name] = split(path)
    const names = this.#folders.get(folder) ?? new Map<string, string>()
    if (names.get(name) === message || this.#count >= REMEMBERED) return false
    const isNew = !names.has(name)
    if (isNew) this.#count++
    this.#folders.set(folder, names.set(name, message))
    this.version++
    return isNew
  }

  delete(path: string): void {
    if (this.#count > 0) this.#delete(...split(path))
  }

  #delete(folder: string, name: string): void {
    const names = this.#folders.get(folder)
    if (!names?.delete(name)) return
    if (names.size === 0) this.#folders.delete(folder)
    this.#count--
    this.version++
  }

  /** Removes the paths directly in the folder whose names are not in `found`, which are the names that still exist. */
  keep(folder: string, found: ReadonlySet<string>): void {
    for (const name of [...(this.#folders.get(folder)?.keys() ?? [])]) if (!found.has(name)) this.#delete(folder, name)
  }

  /** Removes all paths below a folder that was deleted. */
  forgetBelow(path: string): void {
    for (const folder of [...this.#folders.keys()])
      if (path === '' || folder === path || folder.startsWith(`${path}/`)) this.keep(folder, new Set())
  }

  /** Returns the first paths, with their messages. */
  first(): readonly (readonly [string, string])[] {
    const all: [string, string][] = []
    for (const [folder, names] of this.#folders)
      for (const [name, message] of names) {
        if (all.length === TOLD) return all
        all.push([joinPath(folder, name), message])
      }
    return all
  }
}

/** Decodes the paths that the other side skips, and its messages. The other side may be hostile. */
export function readSkippedPaths(paths: readonly unknown[]): readonly (readonly [string, string])[] {
  return paths.slice(0, TOLD).map(one => {
    const [path, message] = Array.isArray(one) ? (one as readonly unknown[]) : []
    if (typeof path !== 'string' || typeof message !== 'string') throw new Error('a path that is left out has no text')
    return [path.slice(0, LONGEST), message.slice(0, LONGEST)]
  })
}

function split(path: string): readonly [folder: string, name: string] {
  const end = path.lastIndexOf('/')
  return [path.slice(0, Math.max(0, end)), path.slice(end + 1)]
}
