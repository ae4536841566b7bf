import { basename, dirname, join, relative } from 'node:path/posix'
import type { Checkout, CompilerHost } from '../../host.ts'
import { gitIgnore, type Ignores } from '../../values/images/ignore-file.ts'
import { isPlaceholder, MOST_FILES, projectCheckout, type TrackedContent, trackedAt } from './checkout.ts'
import { type HostFile, mostBytes } from './host-files.ts'
import { isInside } from './host-paths.ts'

/** The content of a host path that every machine has, as far as it fits into one object. */
export type HostContent =
  | CopiedFiles
  /** A folder, or nothing at all: what the service puts there is data. */
  | { readonly kind: 'data'; readonly state: 'missing' | 'empty' | 'untracked' }
  | { readonly kind: 'too-large'; readonly isFolder: boolean }
  | { readonly kind: 'special' }
  /** Something in it is outside of the project, which has been reported. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** Tracked, and not in the working tree. */
  | { readonly kind: 'gone'; readonly path: string; readonly why: 'deleted' | 'sparse' | 'submodule' }
  | { readonly kind: 'spelt'; readonly as: string }

export interface CopiedFiles {
  readonly kind: 'files'
  readonly files: readonly HostFile[]
  readonly isFolder: boolean
  /** True if the files are those that git tracks; else they are the files on this machine. */
  readonly isTracked: boolean
  /** Entries of the folder that are left out. */
  readonly leftOut: readonly string[]
  /** Tracked files that have been deleted. */
  readonly gone: readonly string[]
}

/** Reads host paths, each once. */
export interface HostReader {
  /** The tracked content of a path; outside a checkout, the files on disk. */
  read(path: string, allowed: Allowed): HostContent
  /** The files on disk, tracked or not. */
  readAll(path: string, allowed: Allowed): HostContent
  /**
   * The checkout of the project; undefined when there is none, or git cannot say what it tracks.
   */
  readonly checkout: Checkout | undefined
  /** Reason why git cannot list the tracked files. */
  readonly failure: string | undefined
}

/** A reader for a project. The checkout is looked for when the first path is read. */
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

/** True if a file or folder may be read; reports the reason if not. */
type Allowed = (path: string) => boolean

/**
 * Reads with a host that asks before it reads anything, since links may lead out of the project.
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
 * The path as seen from the top of the checkout. Links in the project's folder are not followed
 * here: whether they are tracked is for the checkout to say.
 */
function inCheckout(host: CompilerHost, directory: string, path: string): string {
  if (isInside(path, directory)) return join(host.realPath(directory), relative(directory, path))
  for (let at = dirname(path), rest = basename(path); ; rest = join(basename(at), rest), at = dirname(at))
    if (at === '/' || host.stat(at)) return join(host.realPath(at), rest)
}

/** Paths in what it gives are relative to `directory`, as the user writes them. */
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

/** A file is what it is; a folder is data, whatever is in it on this machine. */
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
 * The files on disk, without `.git` and those that match the ignore files between the project's
 * folder and the file.
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
  // A link may lead back up; each folder is entered once.
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
 * The rules of the `.gitignore` files in the folders from `root` to a path: the innermost that has
 * one for it decides.
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

/** Sizes are asked for before files are read, so that a large folder costs little. */
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
    // The index has the same modes on every machine, file systems do not.
    const executable = about.isTracked ? isExecutable : (content.kind === 'file' && content.executable) || false
    if (content.kind === 'file') files.push({ path: name, bytes: content.bytes, executable })
  }
  return { kind: 'files', files, isFolder, ...about }
}
