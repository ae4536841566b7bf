import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { CompilerHost, DirectoryEntry, FileContent, FileStat } from '../compiler/host.ts'
import { hashBuild } from './build-hash.ts'

export interface HostOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** User-defined variables of the platform: the last place in which a variable is looked for. */
  readonly platformVariables?: ReadonlyMap<string, string>
}

/** The world as the compiler sees it: this machine's files and the variables of a process. */
export function createHost({ env, platformVariables = new Map() }: HostOptions): CompilerHost {
  const environment = new Map(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  return {
    readFile,
    readDirectory,
    stat,
    realPath,
    variable(name) {
      const own = environment.get(name)
      if (own !== undefined) return { value: own, source: 'shell' }
      const platform = platformVariables.get(name)
      return platform === undefined ? undefined : { value: platform, source: 'platform' }
    },
    environment,
    hashBuild,
    homeDirectory: environment.get('HOME') ?? homedir(),
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its symbolic links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  ERR_FS_FILE_TOO_LARGE: 'it is too large',
  EMFILE: 'too many files are open',
  EIO: 'the disk cannot be read',
}

/** Why a file operation failed, in words. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException // what node:fs throws
  return (code && REASONS[code]) ?? code ?? message
}

function readFile(path: string): FileContent {
  // Node refuses such a path with an exception about its argument.
  if (path.includes('\0')) return { kind: 'missing' }
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const found = fstatSync(file)
    if (found.isDirectory()) return { kind: 'folder' }
    // A device may never end. The empty one does, and is in use: `-f /dev/null`.
    if (found.isCharacterDevice() || found.isBlockDevice()) {
      return path === '/dev/null'
        ? { kind: 'file', bytes: new Uint8Array() }
        : { kind: 'unreadable', reason: 'it is a device' }
    }
    const executable = (found.mode & constants.S_IXUSR) !== 0
    return { kind: 'file', bytes: readFileSync(file), ...(executable && { executable }) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // what node:fs throws
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' }
    if (code === 'EISDIR') return { kind: 'folder' }
    return { kind: 'unreadable', reason: reasonOf(error) }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function readDirectory(path: string): readonly DirectoryEntry[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true })
      .map((entry): DirectoryEntry => {
        const kind = entry.isSymbolicLink() ? (stat(join(path, entry.name))?.kind ?? 'other') : kindOf(entry)
        return { name: entry.name, kind }
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return undefined
  }
}

function stat(path: string): FileStat | undefined {
  try {
    const found = statSync(path)
    const kind = kindOf(found)
    return { kind, size: kind === 'file' ? found.size : 0 }
  } catch {
    return undefined
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): 'file' | 'folder' | 'other' {
  return entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other'
}
