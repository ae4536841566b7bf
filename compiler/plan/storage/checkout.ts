import { join, relative } from 'node:path/posix'
import type { Checkout, CompilerHost, TrackedFile } from '../../host.ts'
import { isInside } from './host-paths.ts'

/** A file that git tracks at or below a host path. */
export interface TrackedContent {
  /** Path relative to the host path; empty if the host path is the file itself. */
  readonly path: string
  /** Absolute path of the content, with symbolic links resolved. */
  readonly absolute: string
  readonly isExecutable: boolean
}

/** The tracked content at a host path. Paths are absolute unless stated otherwise. */
export type TrackedPlace =
  /** A path outside the checkout, possibly the target of a tracked link. */
  | { readonly kind: 'elsewhere'; readonly path: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'submodule'; readonly path: string }
  | { readonly kind: 'sparse'; readonly path: string }
  /** Nothing is tracked at the path as written, but git tracks a path that differs only in upper and lower case. */
  | { readonly kind: 'spelt'; readonly as: string }
  | {
      readonly kind: 'content'
      readonly files: readonly TrackedContent[]
      /** Tracked files that are missing from the working tree. */
      readonly gone: readonly string[]
      /** Untracked files and folders next to tracked ones, relative to the host path; folders end in `/`. */
      readonly leftOut: readonly string[]
    }

/** Names of files that keep an otherwise empty folder in a repository. */
const PLACEHOLDERS = new Set(['.gitkeep', '.keep', '.gitignore', '.gitattributes', '.placeholder', '.empty'])

/** Maximum number of folders whose untracked entries are listed, to limit the cost of a huge tree. */
const MOST_FOLDERS = 2000

/** Returns the checkout around a project; undefined if it tracks no file in the project's folder. */
export function projectCheckout(host: CompilerHost, directory: string): Checkout | undefined {
  const checkout = host.checkout(directory)
  if (!checkout || checkout.failure !== undefined) return checkout
  const folder = relative(checkout.root, host.realPath(directory))
  return below(checkout.files, folder).length > 0 ? checkout : undefined
}

/**
 * Returns what git tracks at an absolute path. The result depends on the index and the files in it, never on other
 * files of this machine.
 */
export function trackedAt(host: CompilerHost, checkout: Checkout, path: string): TrackedPlace {
  return lookUp({ host, checkout, links: 0, entered: new Set(), budget: { left: MOST_FILES } }, path)
}

interface Search {
  readonly host: CompilerHost
  readonly checkout: Checkout
  /** Number of links followed so far. */
  readonly links: number
  /** Folders that are currently being listed. A link may point back into such a folder. */
  readonly entered: ReadonlySet<string>
  /**
   * Number of files that may still be listed. Without a limit, links that point at each other's folders could repeat a
   * few files endlessly.
   */
  readonly budget: { left: number }
}

const MOST_LINKS = 40
/** Maximum number of files to list; more than any object can hold. */
export const MOST_FILES = 5001

function lookUp(search: Search, path: string): TrackedPlace {
  const { host, checkout, links } = search
  if (!isInside(path, checkout.root)) return { kind: 'elsewhere', path }
  const written = relative(checkout.root, path)
  const inner = crossing(checkout.files, written)
  if (inner?.kind === 'submodule') return inSubmodule(search, inner, written)
  if (inner && links < MOST_LINKS) {
    const target = host.realPath(join(checkout.root, inner.path))
    if (target === join(checkout.root, inner.path))
      return { kind: 'content', files: [], gone: [join(checkout.root, inner.path)], leftOut: [] }
    return lookUp({ ...search, links: links + 1 }, join(target, written.slice(inner.path.length)))
  }
  const own = at(checkout.files, written)
  if (own) return fileContent(search, own)
  const files = below(checkout.files, written)
  if (files.some(file => !isPlaceholder(file))) return folderContent(search, written, files)
  return files.length > 0 ? { kind: 'nothing' } : unlessSpelt(search, written)
}

/** Returns the first link or submodule among the folders on a path and the path itself; undefined if there is none. */
function crossing(files: readonly TrackedFile[], path: string): TrackedFile | undefined {
  for (let end = path.indexOf('/'); ; end = path.indexOf('/', end + 1)) {
    const found = at(files, end < 0 ? path : path.slice(0, end))
    if (found?.kind === 'link' || found?.kind === 'submodule') return found
    if (end < 0) return undefined
  }
}

function inSubmodule(search: Search, submodule: TrackedFile, written: string): TrackedPlace {
  const { host, checkout, links } = search
  const root = join(checkout.root, submodule.path)
  const inner = host.checkout(root)
  if (!inner || inner.root !== root || inner.failure !== undefined || links >= MOST_LINKS)
    return { kind: 'submodule', path: root }
  return lookUp({ ...search, checkout: inner, links: links + 1 }, join(root, written.slice(submodule.path.length)))
}

function fileContent({ host, checkout }: Search, file: TrackedFile): TrackedPlace {
  const absolute = join(checkout.root, file.path)
  if (host.stat(absolute)?.kind === 'file')
    return {
      kind: 'content',
      files: [{ path: '', absolute, isExecutable: file.kind === 'executable' }],
      gone: [],
      leftOut: [],
    }
  if (file.isSparse) return { kind: 'sparse', path: absolute }
  return { kind: 'content', files: [], gone: [absolute], leftOut: [] }
}

function folderContent(search: Search, folder: string, tracked: readonly TrackedFile[]): TrackedPlace {
  const { host, checkout, budget } = search
  const top = join(checkout.root, folder)
  if (search.entered.has(top)) return { kind: 'content', files: [], gone: [], leftOut: [] }
  const within = { ...search, entered: new Set([...search.entered, top]) }
  const files: TrackedContent[] = []
  const gone: string[] = []
  const leftOut: string[] = []
  for (const file of tracked) {
    if (budget.left-- <= 0) break
    const path = folder === '' ? file.path : file.path.slice(folder.length + 1)
    const absolute = join(checkout.root, file.path)
    if (file.kind === 'link' || file.kind === 'submodule') {
      const inner = lookUp(within, absolute)
      if (inner.kind === 'submodule' || inner.kind === 'sparse') return inner
      if (inner.kind !== 'content') leftOut.push(path)
      else {
        files.push(...inner.files.map(one => ({ ...one, path: one.path === '' ? path : `${path}/${one.path}` })))
        gone.push(...inner.gone)
        leftOut.push(...inner.leftOut.map(one => `${path}/${one}`))
      }
    } else if (host.stat(absolute)?.kind === 'file')
      files.push({ path, absolute, isExecutable: file.kind === 'executable' })
    else if (file.isSparse) return { kind: 'sparse', path: absolute }
    else gone.push(absolute)
  }
  return { kind: 'content', files, gone, leftOut: [...leftOut, ...untrackedIn(search, folder, tracked)] }
}

/**
 * Returns the untracked entries of folders with tracked files, which the user may have forgotten to add. Omits `.git`,
 * and the content of folders without tracked files.
 */
function untrackedIn({ host, checkout }: Search, folder: string, tracked: readonly TrackedFile[]): readonly string[] {
  const names = new Set<string>()
  for (const { path } of tracked)
    for (let at = path; at.length > folder.length && at !== '.'; at = parent(at)) names.add(at)
  const folders = new Set([folder, ...tracked.flatMap(({ path }) => foldersOf(path, folder))])
  const found: string[] = []
  for (const one of [...folders].sort().slice(0, MOST_FOLDERS))
    for (const { name, kind } of host.readDirectory(join(checkout.root, one)) ?? []) {
      if (name === '.git') continue
      const path = one === '' ? name : `${one}/${name}`
      if (!names.has(path) && !names.has(path.normalize('NFC')))
        found.push(`${folder === '' ? path : path.slice(folder.length + 1)}${kind === 'folder' ? '/' : ''}`)
    }
  return found
}

const parent = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '')

function foldersOf(path: string, top: string): readonly string[] {
  const found: string[] = []
  for (let at = parent(path); at.length > top.length; at = parent(at)) found.push(at)
  return found
}

/**
 * Returns the result for a path that is not tracked as written. If git tracks the path with other upper and lower case,
 * the result is `spelt`, because only some machines treat `Conf` and `conf` as one folder.
 */
function unlessSpelt(search: Search, written: string): TrackedPlace {
  const { checkout } = search
  const wanted = folded(written)
  for (const { path } of checkout.files) {
    if (path.length < written.length - 8) continue
    const candidate = folded(path)
    if (candidate !== wanted && !candidate.startsWith(`${wanted}/`)) continue
    const as = path.split('/').slice(0, written.split('/').length).join('/')
    // macOS stores an accented letter as two characters, git as one.
    const isSame = as.normalize('NFC') === written.normalize('NFC')
    const found = join(checkout.root, as)
    return isSame && as !== written ? lookUp(search, found) : { kind: 'spelt', as: found }
  }
  return { kind: 'nothing' }
}

const folded = (path: string): string => path.normalize('NFC').toLowerCase()

/** True if a file's only purpose is to keep its folder in a repository. */
export const isPlaceholder = ({ path }: Pick<TrackedFile, 'path'>): boolean =>
  PLACEHOLDERS.has(path.slice(path.lastIndexOf('/') + 1))

function at(files: readonly TrackedFile[], path: string): TrackedFile | undefined {
  const found = files[firstFrom(files, path)]
  return found?.path === path ? found : undefined
}

/** Returns the tracked files in a folder. */
function below(files: readonly TrackedFile[], folder: string): readonly TrackedFile[] {
  if (folder === '') return files
  // `0` is the character after `/`.
  return files.slice(firstFrom(files, `${folder}/`), firstFrom(files, `${folder}0`))
}

function firstFrom(files: readonly TrackedFile[], path: string): number {
  let low = 0
  let high = files.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (files[middle]!.path < path) low = middle + 1
    else high = middle
  }
  return low
}
