import { createHash, type Hash } from 'node:crypto'
import { closeSync, type Dirent, fstatSync, readdirSync, readlinkSync, readSync, type Stats, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { basename, dirname, join } from 'node:path/posix'
import { openWithoutWaiting, readFile } from '../../adapters/files/read-file.ts'
import { realPath } from '../../adapters/files/real-path.ts'
import { lstatIfFound, statIfFound } from '../../adapters/files/stat-if-found.ts'
import type { BuildInput, SpendOnBuild } from '../../compiler/host.ts'
import { fingerprint, LOCK_NAME, type Lock, parseLock } from '../lock.ts'
import { type Ignored, ignoreRules } from './context-rules.ts'
import { hashFiles } from './hashed-files.ts'

/**
 * Returns the hash (sha256, hex) of everything that a build reads: the files of the context after .dockerignore with
 * their paths, contents and executable bits, targets of symbolic links, the Dockerfile, target, arguments and other
 * settings. Equal content gives an equal hash, independent of times, owners, the order of directory entries and the
 * machine. Returns undefined for a context that is not a folder on this machine.
 *
 * Manifests that devctl wrote into the context are excluded, and so is their lock. `.git` is excluded unless the ignore
 * file includes it again (`!.git`). Its bytes differ between two clones of the same commit, which would therefore get
 * different tags.
 */
export function hashBuild(
  { context, dockerfile, dockerfileInline, target, args, settings = [] }: BuildInput,
  { mayRead = () => true, spend = () => {}, known = new Map() }: HashOptions = {},
): string | undefined {
  if (!isFolder(context) || !mayRead(context)) return undefined
  const hash = createHash('sha256')
  const add = (...parts: readonly (string | null)[]) => {
    // Lengths separate the parts, so that two different lists of parts never feed the same bytes to the hash.
    for (const part of parts) hash.update(part === null ? '-;' : `${Buffer.byteLength(part)}:${part};`)
  }
  add('devctl-build-1', target ?? null)
  for (const [name, value] of [...args].sort(([a], [b]) => (a < b ? -1 : 1))) add('arg', name, value)
  // Added only if present, so that builds without settings keep the hash from before settings were included.
  if (settings.length > 0) add('settings', JSON.stringify(settings))

  const named = dockerfileInline === undefined ? resolve(context, dockerfile ?? 'Dockerfile') : undefined
  // A link may lead out of its folder: the builder gets the folder of the file itself.
  const path = named && (realPath(named) ?? named)
  add('dockerfile', dockerfileInline ?? null)
  if (path !== undefined) {
    spend('context', sizeOf(path))
    add(mayRead(path) ? hashDockerfile(path) : 'unreadable')
  }

  // Read once, because services often share a context.
  const key = `${context}\0${path ?? ''}`
  const files =
    known.get(key) ??
    rememberedParts(context, key, (isAgain, onStats) => {
      // The limits were already checked the first time.
      const spent = isAgain ? () => {} : spend
      return partsOf(context, ignoreRules(context, path, mayRead, spent), spent, onStats)
    })
  known.set(key, files)
  for (const parts of files) add(...parts)
  return hash.digest('hex')
}

type OnStats = (name: string, stats: Stats) => void

function hashDockerfile(path: string): string {
  const name = basename(path)
  return hashFiles(dirname(path), path, times => hashFile(path, stats => times.set(name, stats)))
}

/**
 * Returns the parts of the hash for a context. `hashFiles` can call `read` again later, with `isAgain` set, to notice
 * changes of the files.
 */
function rememberedParts(
  context: string,
  key: string,
  read: (isAgain: boolean, onStats: OnStats) => readonly Parts[],
): readonly Parts[] {
  let isAgain = false
  let parts: readonly Parts[] = []
  hashFiles(context, key, times => {
    parts = read(isAgain, (name, { mtimeMs, ctimeMs }) => times.set(name, { mtimeMs, ctimeMs }))
    isAgain = true
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  })
  const found = parts
  parts = []
  return found
}

/**
 * Returns the parts of the hash of a build for the files of its context, one for each file, folder and link. Counts the
 * files before it reads any.
 */
function partsOf(context: string, isIgnored: Ignored, spend: SpendOnBuild, onStats: OnStats): readonly Parts[] {
  const found: Found[] = []
  onStats('', statSync(context))
  for (const one of walk(context, isIgnored)) {
    spend('files', 1)
    if (one.entry.isFile()) spend('context', sizeOf(resolve(context, one.name)))
    found.push(one)
  }
  return found.flatMap(({ name, entry, executable }): readonly Parts[] => {
    const path = resolve(context, name)
    if (entry.isDirectory() || entry.isSymbolicLink()) {
      const stats = lstatIfFound(path)
      if (stats) onStats(name, stats)
      return [entry.isDirectory() ? ['folder', name] : ['link', name, readLink(path)]]
    }
    // Sockets, pipes and devices are not part of a context.
    if (!entry.isFile()) return []
    // Check the time limit while files are read, too.
    spend('files', 0)
    return [['file', name, executable() ? 'x' : '', hashFile(path, stats => onStats(name, stats))]]
  })
}

const sizeOf = (path: string): number => statIfFound(path)?.size ?? 0

export type Parts = readonly string[]

interface HashOptions {
  /** Returns true if a path is inside the project; if absent, all paths are. */
  readonly mayRead?: (path: string) => boolean
  readonly spend?: SpendOnBuild
  /** Cache of the parts of the hash (`partsOf`) for contexts that were already read. */
  readonly known?: Map<string, readonly Parts[]>
}

interface Found {
  readonly name: string
  readonly entry: Dirent
  readonly executable: () => boolean
}

/** Yields the content of the context, ordered by the code units of the paths, folders before their content. */
function* walk(
  context: string,
  isIgnored: Ignored,
  folder = '',
  entries = listFolder(resolve(context)),
  rendered = renderedIn(context, folder, entries),
): Generator<Found> {
  for (const entry of entries) {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (rendered.has(name) && !entry.isDirectory()) continue
    const ignored = isIgnored.file(name)
    const found = { name, entry, executable: () => isExecutable(resolve(context, name)) }
    if (!entry.isDirectory()) {
      if (!ignored) yield found
      continue
    }
    if (ignored && isIgnored.wholeFolder(name)) continue
    const inner = listFolder(resolve(context, name))
    const own = renderedIn(context, name, inner)
    const innerRendered = own.size === 0 ? rendered : new Set([...rendered, ...own])
    // A folder that was created for manifests counts only if it contains something else.
    let isTold = ignored
    if (!isTold && !innerRendered.has(name)) {
      isTold = true
      yield found
    }
    for (const one of walk(context, isIgnored, name, inner, innerRendered)) {
      if (!isTold) yield found
      isTold = true
      yield one
    }
  }
}

/**
 * Returns the paths in a folder of the context that `devctl render --output-dir` wrote, with the folders that contain
 * them; empty without a lock. These files contain the image tag: if they were part of the hash, the tag would change
 * after each run. Files that were changed after they were written, and files that devctl did not write, are not
 * returned.
 */
function renderedIn(context: string, folder: string, entries: readonly Dirent[]): ReadonlySet<string> {
  if (!entries.some(entry => entry.name === LOCK_NAME && entry.isFile())) return new Set()
  const lock = readLock(resolve(context, folder, LOCK_NAME))
  if (!lock) return new Set()
  const names = new Set(folder === '' ? [] : [folder])
  const add = (path: string) => {
    for (let at = path; at !== '.' && !names.has(join(folder, at)); at = dirname(at)) names.add(join(folder, at))
  }
  add(LOCK_NAME)
  for (const path of new Set([...lock.files.keys(), ...lock.pending.keys()]))
    if (isAsWritten(resolve(context, folder, path), path, lock)) add(path)
  return names
}

const MANIFEST = /\.(?:ya?ml|json)$/
/** Maximum size of a rendered file in bytes: no Kubernetes object is larger, and a file with all objects rarely is. */
const MOST_OF_MANIFEST = 16 << 20

function isAsWritten(full: string, path: string, { files, pending }: Lock): boolean {
  const stats = lstatIfFound(full)
  if (!MANIFEST.test(path) || !stats?.isFile() || stats.size > MOST_OF_MANIFEST) return false
  const text = readText(full)
  const found = text !== undefined && fingerprint(path, text)
  return found === files.get(path) || found === pending.get(path)
}

/** Reads a lock. Returns undefined if devctl did not write the file, which is then hashed like any other file. */
function readLock(path: string): Lock | undefined {
  try {
    return parseLock(readText(path) ?? '', path)
  } catch {
    return undefined
  }
}

const CHUNK = 1 << 20
let buffer: Buffer | undefined

/**
 * Returns the hash of a file's content, read in chunks; `missing` or `unreadable` for a file that does not exist or
 * cannot be read, which the build will report.
 */
function hashFile(path: string, onStats: (stats: Stats) => void): string {
  let file: number | undefined
  try {
    file = openWithoutWaiting(path)
    const found = fstatSync(file)
    if (found.isFIFO()) return 'unreadable'
    onStats(found)
    // Only up to the initial size, because a file that keeps growing could be read forever.
    return digest(file, createHash('sha256'), found.size)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'unreadable' // node:fs throws such errors
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function digest(file: number, hash: Hash, size: number): string {
  buffer ??= Buffer.allocUnsafe(CHUNK)
  for (let left = size; left > 0; ) {
    const length = readSync(file, buffer, 0, Math.min(CHUNK, left), null)
    if (length === 0) break
    hash.update(buffer.subarray(0, length))
    left -= length
  }
  return hash.digest('hex')
}

/** Returns the sorted entries of a folder; empty for a folder that cannot be read, which the build will report. */
function listFolder(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

function isExecutable(path: string): boolean {
  return ((statIfFound(path)?.mode ?? 0) & 0o100) !== 0
}

/**
 * Returns the target of a symbolic link; `missing` if the link does not exist, or its name is not UTF-8, which the
 * build will report.
 */
function readLink(path: string): string {
  try {
    return readlinkSync(path).replaceAll('\\', '/')
  } catch {
    return 'missing'
  }
}

function readText(path: string): string | undefined {
  const file = readFile(path)
  return file.kind === 'file' ? new TextDecoder().decode(file.bytes) : undefined
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
