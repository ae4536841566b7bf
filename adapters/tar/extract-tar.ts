import { constants } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, open, rm, symlink } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { readTar, type TarEntry, TarError } from './read-tar.ts'
import type { TarCounts } from './write-tar.ts'

/** An archive, and the path on this machine to which it is written. */
export interface Extraction {
  readonly archive: AsyncIterable<Buffer>
  /** Name with which the paths of all entries begin; empty if they begin with `.`. */
  readonly name: string
  /** Absolute path that replaces `name`. Nothing is written outside this path. */
  readonly target: string
  /** Called with the name of each entry that is skipped, and the reason as a clause. */
  readonly skipped: (name: string, reason: string) => void
}

/**
 * Writes the entries of an archive that may come from an attacker. Nothing is written outside the target: names with
 * `..` are refused, links to paths outside the target are skipped, and no entry is written through a link, whatever its
 * target. Entries whose names are not UTF-8 are skipped, too. Owners, setuid bits and devices are not restored.
 */
export async function extractTar({ archive, name, target, skipped }: Extraction): Promise<TarCounts> {
  const counts: TarCounts = { files: 0, bytes: 0 }
  const modes: [string, number][] = []
  for await (const entry of readTar(archive)) {
    const parts = partsOf(entry.name, name)
    const path = join(target, ...parts)
    const reason = await refusalOf(entry, parts, name)
    if (reason !== undefined) {
      skipped(entry.name, reason)
      continue
    }
    await makeParents(target, parts)
    if (entry.kind === 'folder') {
      // A folder without the right to write would refuse its own files, so its mode is set at the end.
      if (await makeFolder(path)) modes.push([path, entry.mode & 0o777])
      continue
    }
    counts.files++
    await removeFile(path)
    if (entry.kind === 'file') counts.bytes += await writeFile(path, entry)
    else if (entry.kind === 'link') await symlink(entry.link, path)
    else await copyLinked(entry, name, target, path)
  }
  for (const [path, mode] of modes.reverse()) await chmod(path, mode)
  return counts
}

/**
 * Returns the parts of an entry's path that follow `name`. Throws a TarError for a path that does not begin with `name`
 * or that could lead outside the target.
 */
function partsOf(entry: string, name: string): readonly string[] {
  const parts = entry.split('/').filter(part => part !== '' && part !== '.')
  const isWrong = parts.some(part => part === '..' || part.includes('\0') || (sep !== '/' && /[\\:]/.test(part)))
  if (isWrong || (name !== '' && parts[0] !== name)) throw new TarError(`it has the name \`${entry}\``)
  return name === '' ? parts : parts.slice(1)
}

async function refusalOf(entry: TarEntry, parts: readonly string[], name: string): Promise<string | undefined> {
  if (!entry.isUtf8) return `its name ${entry.link === '' ? '' : 'or its target '}is not UTF-8`
  if (entry.kind === 'other') return 'it is a device, a pipe or a socket'
  if (entry.kind === 'link' && !isInside(entry.link, parts))
    return `it is a link to \`${entry.link}\`, outside the copy`
  if (entry.kind === 'hard-link') partsOf(entry.link, name)
  return undefined
}

/**
 * Returns true if a link points to a path below the target. `parts` is the path of the link, relative to the target.
 * `..` is only allowed at the start of the link, where it can only lead through real folders (`makeParents`). After the
 * name of another link, `..` could lead outside the target.
 */
function isInside(link: string, parts: readonly string[]): boolean {
  if (link === '' || link.startsWith('/') || link.includes('\0') || (sep !== '/' && /[\\:]/.test(link))) return false
  const steps = link.split('/').filter(step => step !== '' && step !== '.')
  const down = steps.findIndex(step => step !== '..')
  const up = down === -1 ? steps.length : down
  return up < parts.length && !steps.slice(up).includes('..')
}

/** Creates the folders above an entry. Throws a TarError if one of them is a link or a file. */
async function makeParents(target: string, parts: readonly string[]): Promise<void> {
  for (let count = 0; count < parts.length; count++) await makeFolder(join(target, ...parts.slice(0, count)))
}

/** Creates a folder if it does not exist; returns true if it was created. */
async function makeFolder(path: string): Promise<boolean> {
  const there = await lstat(path).catch(missing)
  if (there?.isDirectory()) return false
  if (there) throw new TarError(`\`${path}\` exists here, and is no folder`)
  await mkdir(path)
  return true
}

/** Removes the file or link at a path, so that nothing is written through a link. */
async function removeFile(path: string): Promise<void> {
  const there = await lstat(path).catch(missing)
  if (there?.isDirectory()) throw new TarError(`\`${path}\` exists here, and is a folder`)
  if (there) await rm(path)
}

async function writeFile(path: string, { content, mode }: TarEntry): Promise<number> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
  const file = await open(path, flags, 0o600)
  let bytes = 0
  try {
    for await (const part of content) {
      await file.writeFile(part)
      bytes += part.length
    }
    await file.chmod(mode & 0o777)
  } finally {
    await file.close()
  }
  return bytes
}

/**
 * Copies the file that a hard link points to. Throws a TarError if the archive does not contain that file before the
 * link.
 */
async function copyLinked(entry: TarEntry, name: string, target: string, path: string): Promise<void> {
  const parts = partsOf(entry.link, name)
  for (let count = 0; count < parts.length; count++) {
    const there = await lstat(join(target, ...parts.slice(0, count))).catch(missing)
    if (!there?.isDirectory()) throw new TarError(`the target of \`${entry.name}\` is missing`)
  }
  const from = join(target, ...parts)
  if (!(await lstat(from).catch(missing))?.isFile()) throw new TarError(`the target of \`${entry.name}\` is missing`)
  await copyFile(from, path, constants.COPYFILE_EXCL)
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
