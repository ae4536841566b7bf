import * as fs from 'node:fs'
import { copyEntry, type FileEntry, FOLDER, fileEntry, linkEntry } from '../core/entry.ts'

/**
 * File system calls of the sync. All are synchronous, because small files take five times as long with asynchronous
 * calls. They throw the errors of Node.js. Tests use a file system in memory that can simulate faults.
 */
export interface Disk {
  /**
   * Returns the entry of a path; undefined if it does not exist, `other` if it is neither a file, a folder nor a link.
   * Does not follow links.
   */
  entry(path: string): FileEntry | 'other' | undefined
  list(folder: string): readonly string[]
  /**
   * Opens a file. With `create`, it must not exist; `update` opens an existing file for writing. Does not follow links.
   */
  open(path: string, how: 'read' | 'create' | 'update', executable?: boolean): number
  /** Returns the entry of an open file; undefined if it is not a regular file. */
  opened(file: number): (FileEntry & { readonly links: number }) | undefined
  read(file: number, into: Buffer, position: number): number
  write(file: number, bytes: Uint8Array, position: number): void
  truncate(file: number, size: number): void
  setTimes(file: number, mtime: number): void
  setExecutable(file: number, executable: boolean): void
  /**
   * Gives an open file the permissions of the file at a path, if both have the same owner and group: other owners might
   * not be able to read it then.
   */
  copyMode(from: string, file: number): void
  close(file: number): void
  makeFolder(path: string): void
  makeLink(target: string, path: string): void
  removeFolder(path: string): void
  removeFile(path: string): void
  rename(from: string, to: string): void
  /**
   * Returns the total and free bytes of the disk that contains the folder; undefined if the system does not report
   * them.
   */
  space?(folder: string): { readonly size: number; readonly free: number } | undefined
  /**
   * Watches a folder. Calls `changed` with the name in the folder, or with undefined if the system does not report the
   * name. After `ended`, there are no more calls.
   */
  watch(
    folder: string,
    recursive: boolean,
    changed: (name: string | undefined) => void,
    ended: (error: Error) => void,
  ): () => void
}

const isWindows = process.platform === 'win32'
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = fs.constants
const O_NOFOLLOW = fs.constants.O_NOFOLLOW ?? 0
// Opening a named pipe that has replaced a file must not block this process.
const O_NONBLOCK = fs.constants.O_NONBLOCK ?? 0
const FLAGS = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  create: O_WRONLY | O_CREAT | O_EXCL,
  update: O_WRONLY | O_NOFOLLOW | O_NONBLOCK,
}

export const nodeDisk: Disk = {
  entry: path => {
    const stat = lstat(path)
    if (!stat) return undefined
    if (stat.isFile()) return fileOf(stat)
    if (stat.isDirectory()) return copyEntry({ ...FOLDER, inode: stat.ino, ctime: stat.birthtimeMs })
    return stat.isSymbolicLink() ? linkEntry(fs.readlinkSync(path)) : 'other'
  },
  list: folder => fs.readdirSync(folder),
  open: (path, how, executable = false) => fs.openSync(path, FLAGS[how], executable ? 0o777 : 0o666),
  opened: file => {
    const stat = fs.fstatSync(file)
    return stat.isFile() ? { ...fileOf(stat), links: stat.nlink } : undefined
  },
  read: (file, into, position) => fs.readSync(file, into, 0, into.length, position),
  write: (file, bytes, position) => {
    for (let done = 0; done < bytes.length; )
      done += fs.writeSync(file, bytes, done, bytes.length - done, position + done)
  },
  truncate: fs.ftruncateSync,
  setTimes: (file, mtime) => fs.futimesSync(file, mtime / 1000, mtime / 1000),
  setExecutable: (file, executable) => {
    if (isWindows) return
    const { mode } = fs.fstatSync(file)
    // Every user with read permission gets execute permission.
    fs.fchmodSync(file, executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111)
  },
  copyMode: (from, file) => {
    if (isWindows) return
    const stat = lstat(from)
    const { uid, gid, mode } = fs.fstatSync(file)
    if (!stat?.isFile() || stat.uid !== uid || stat.gid !== gid) return
    // File systems without permissions refuse to change them.
    if ((stat.mode ^ mode) & 0o777) fs.fchmodSync(file, stat.mode & 0o777)
  },
  close: fs.closeSync,
  makeFolder: path => fs.mkdirSync(path),
  makeLink: (target, path) => fs.symlinkSync(target, path),
  removeFolder: path => fs.rmdirSync(path),
  removeFile: path => fs.unlinkSync(path),
  rename: fs.renameSync,
  space: folder => {
    try {
      const { blocks, bavail, bsize } = fs.statfsSync(folder)
      return { size: blocks * bsize, free: bavail * bsize }
    } catch {
      return undefined
    }
  },
  watch: (folder, recursive, changed, ended) => {
    const watcher = fs.watch(folder, { recursive, persistent: true }, (_event, name) => changed(name ?? undefined))
    watcher.on('error', ended)
    return () => watcher.close()
  },
}

function lstat(path: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function fileOf({ size, mtimeMs: mtime, ctimeMs: ctime, ino: inode, mode }: fs.Stats): FileEntry {
  return fileEntry({ size, mtime, ctime, inode, executable: isWindows ? undefined : (mode & 0o100) !== 0 })
}

export const errorCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code

/** Returns true if the error means that the path does not exist, or that one of its parents is not a folder. */
export const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')
