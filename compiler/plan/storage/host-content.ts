import { basename, dirname, join, relative } from 'node:path/posix'
import type { Checkout, CompilerHost } from '../../host.ts'
import { gitIgnore, type Ignores } from '../../values/images/ignore-file.ts'
import { isPlaceholder, MOST_FILES, projectCheckout, type TrackedContent, trackedAt } from './checkout.ts'
import { type HostFile, mostBytes } from './host-files.ts'
import { isInside } from './host-paths.ts'

/** The files of a host path, if they fit into one object, or the reason why there are none to copy. */
export type HostContent =
  | CopiedFiles
  /** A folder without files to copy, or a missing path. Everything that the service writes to the path is data. */
  | { readonly kind: 'data'; readonly state: 'missing' | 'empty' | 'untracked' }
  | { readonly kind: 'too-large'; readonly isFolder: boolean }
  | { readonly kind: 'special' }
  /** Content that is partly outside the project, which has been reported. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** A tracked path that is missing from the working tree. */
  | { readonly kind: 'gone'; readonly path: string; readonly why: 'deleted' | 'sparse' | 'submodule' }
  | { readonly kind: 'spelt'; readonly as: string }

export interface CopiedFiles {
  readonly kind: 'files'
  readonly files: readonly HostFile[]
  readonly isFolder: boolean
  /** True if git tracks the files; false if they are the files on this machine. */
  readonly isTracked: boolean
  /** Entries of the folder that are not copied, because git does not track them or an ignore file excludes them. */
  readonly leftOut: readonly string[]
  /** Tracked files that have been deleted. */
  readonly gone: readonly string[]
}

/** Reads host paths, each only once. */
export interface HostReader {
  /** Returns the tracked content of a path; outside a checkout, the files on disk. */
  read(path: string, allowed: Allowed): HostContent
  /** Returns the files on disk, whether or not git tracks them. */
  readAll(path: string, allowed: Allowed): HostContent
  /** The checkout of the project; undefined if there is none, or if git cannot list the tracked files. */
  readonly checkout: Checkout | undefined
  /** Reason why git cannot list the tracked files. */
  readonly failure: string | undefined
}

/** Creates a reader for a project. It looks for the checkout when the first path is read. */
export function hostReader(host: CompilerHost, directory: string): HostReader {
  let found: { readonly checkout: Checkout | undefined } | undefined
  const checkout = () => {
    found ??= { checkout: projectCheckout(host, directory) }
    return found.checkout
  }
  const sound = () => (checkout()?.failure === undefined ? checkout() : undefined)
  const real = onceFor((path: string) => inCheckout(host, directory, path))
  return {
    read: onceFor((path, allowed) =>
      unlessRefused(host, allowed, guarded => {
        const own = sound()
        if (!own || !isInside(real(path), own.root)) return readThere(guarded, path, directory)
        return readTracked(guarded, own, real(path), host.realPath(directory))
      }),
    ),
    readAll: onceFor((path, allowed) => unlessRefused(host, allowed, guarded => readThere(guarded, path, path))),
    get checkout() {
      return sound()
    },
    get failure() {
      return checkout()?.failure
    },
  }
}

/** A function that returns true if a file or folder may be read, and otherwise reports the reason. */
type Allowed = (path: string) => boolean

/**
 * Reads content through a host that checks permission before every read, because links may point outside the project.
 */
function unlessRefused(
  host: CompilerHost,
  allowed: Allowed,
  read: (guarded: CompilerHost) => HostContent,
): HostContent {
  let isRefused = false
  const may = (path: string) => {
    if (allowed(path)) return true
    isRefused = true
    return false
  }
  const content = read({
    ...host,
    readFile: path => (may(path) ? host.readFile(path) : { kind: 'missing' }),
    readDirectory: path => (may(path) ? host.readDirectory(path) : undefined),
  })
  return isRefused ? { kind: 'refused' } : content
}

function onceFor<T, R extends readonly unknown[]>(
  make: (path: string, ...rest: R) => T,
): (path: string, ...rest: R) => T {
  const known = new Map<string, T>()
  return (path, ...rest) => {
    if (!known.has(path)) known.set(path, make(path, ...rest))
    return known.get(path)!
  }
}

/**
 * Resolves the links in the folders above a path, so that the path begins like the paths of the checkout. Does not
 * resolve links inside the project's folder, because the checkout has to determine if they are tracked.
 */
function inCheckout(host: CompilerHost, directory: string, path: string): string {
  if (isInside(path, directory)) return join(host.realPath(directory), relative(directory, path))
  for (let at = dirname(path), rest = basename(path); ; rest = join(basename(at), rest), at = dirname(at))
    if (at === '/' || host.stat(at)) return join(host.realPath(at), rest)
}

/** Reads the tracked content of a path. Paths in the result are relative to `directory`, as the user writes them. */
function readTracked(host: CompilerHost, checkout: Checkout, path: string, directory: string): HostContent {
  const tracked = trackedAt(host, checkout, path)
  switch (tracked.kind) {
    case 'elsewhere':
      return readThere(host, tracked.path, tracked.path)
    case 'submodule':
    case 'sparse':
      return { kind: 'gone', path: relative(directory, tracked.path), why: tracked.kind }
    case 'spelt':
      return { kind: 'spelt', as: `./${relative(directory, tracked.as)}` }
    case 'nothing':
      return untracked(host, path)
    case 'content': {
      const { files, leftOut } = tracked
      const gone = tracked.gone.map(one => relative(directory, one))
      if (files.length === 0) return { kind: 'gone', path: gone[0] ?? relative(directory, path), why: 'deleted' }
      return readFiles(host, files, { leftOut, gone, isTracked: true })
    }
  }
}

/**
 * Reads an untracked path. A file is copied as it is on this machine. A folder counts as data, regardless of its
 * content on this machine.
 */
function untracked(host: CompilerHost, path: string): HostContent {
  const stat = host.stat(path)
  if (stat?.kind === 'file')
    return readFiles(host, [{ path: '', absolute: path, isExecutable: false }], {
      leftOut: [],
      gone: [],
      isTracked: false,
    })
  if (stat?.kind === 'other') return { kind: 'special' }
  return { kind: 'data', state: stat ? 'untracked' : 'missing' }
}

/**
 * Reads the files on disk, except `.git` and files that match an ignore file between the project's folder and the file.
 */
function readThere(host: CompilerHost, path: string, directory: string): HostContent {
  const stat = host.stat(path)
  if (!stat) return { kind: 'data', state: 'missing' }
  if (stat.kind === 'other') return { kind: 'special' }
  const options = { gone: [], isTracked: false }
  if (stat.kind === 'file')
    return readFiles(host, [{ path: '', absolute: path, isExecutable: false }], { ...options, leftOut: [] })
  const isIgnored = ignoreFiles(host, isInside(path, directory) ? directory : path)
  for (let at = path; at !== directory && isInside(at, directory); at = dirname(at))
    if (isIgnored(at, true)) return { kind: 'data', state: 'untracked' }
  const { files, leftOut } = walk(host, path, isIgnored)
  if (files.every(isPlaceholder)) return { kind: 'data', state: leftOut.length > 0 ? 'untracked' : 'empty' }
  return readFiles(host, files, { ...options, leftOut })
}

type IsIgnored = (path: string, isFolder: boolean) => boolean

interface Walked {
  readonly files: TrackedContent[]
  readonly leftOut: string[]
}

function walk(host: CompilerHost, root: string, isIgnored: IsIgnored): Walked {
  const found: Walked = { files: [], leftOut: [] }
  const folders = ['']
  // A link may point to a parent folder, so each folder is entered only once.
  const entered = new Set<string>()
  let bytes = 0
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const real = host.realPath(join(root, folder))
    if (entered.has(real)) continue
    entered.add(real)
    for (const { name } of host.readDirectory(join(root, folder)) ?? []) {
      const path = folder === '' ? name : `${folder}/${name}`
      const absolute = join(root, path)
      const stat = host.stat(absolute)
      const isFolder = stat?.kind === 'folder'
      if (name === '.git') continue
      if (isIgnored(absolute, isFolder)) found.leftOut.push(isFolder ? `${path}/` : path)
      else if (isFolder) folders.push(path)
      else if (stat?.kind === 'file') {
        bytes += stat.size
        found.files.push({ path, absolute, isExecutable: false })
        if (bytes > mostBytes || found.files.length >= MOST_FILES) return found
      }
    }
  }
  found.files.sort((a, b) => (a.path < b.path ? -1 : 1))
  return found
}

/**
 * Returns a function that is true if the `.gitignore` files in the folders from `root` to a path exclude the path. The
 * innermost file with a matching rule decides.
 */
function ignoreFiles(host: CompilerHost, root: string): IsIgnored {
  const rulesIn = onceFor((folder: string): Ignores | undefined => {
    const content = host.readFile(join(folder, '.gitignore'))
    return content.kind === 'file' ? gitIgnore(new TextDecoder().decode(content.bytes)) : undefined
  })
  return (path, isFolder) => {
    for (let folder = dirname(path); isInside(folder, root); folder = dirname(folder)) {
      const ignored = rulesIn(folder)?.(relative(folder, path), isFolder)
      if (ignored !== undefined) return ignored
      if (folder === '/') break
    }
    return false
  }
}

/** Reads files. Adds up their sizes first, so that a folder that is too large costs little. */
function readFiles(
  host: CompilerHost,
  listed: readonly TrackedContent[],
  about: Pick<CopiedFiles, 'leftOut' | 'gone' | 'isTracked'>,
): HostContent {
  const isFolder = listed.length !== 1 || listed[0]!.path !== ''
  let bytes = 0
  for (const { absolute } of listed) bytes += host.stat(absolute)?.size ?? 0
  if (bytes > mostBytes || listed.length >= MOST_FILES) return { kind: 'too-large', isFolder }
  const files: HostFile[] = []
  for (const { path, absolute, isExecutable } of listed) {
    const content = host.readFile(absolute)
    const name = path === '' ? basename(absolute) : path
    if (content.kind === 'unreadable')
      return { kind: 'unreadable', reason: isFolder ? `${path}: ${content.reason}` : content.reason }
    // File modes in the index are the same on every machine; file systems may differ.
    const executable = about.isTracked ? isExecutable : (content.kind === 'file' && content.executable) || false
    if (content.kind === 'file') files.push({ path: name, bytes: content.bytes, executable })
  }
  return { kind: 'files', files, isFolder, ...about }
}
