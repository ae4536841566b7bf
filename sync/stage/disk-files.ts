import { type Disk, errorCode, isMissing } from './disk.ts'

/** Small files of devctl, which are read and written as a whole. */

/** Reads a file of devctl; returns undefined if it does not exist or cannot be read. */
export function readOwn(disk: Disk, path: string): Buffer | undefined {
  let file: number
  try {
    file = disk.open(path, 'read')
  } catch {
    return undefined
  }
  try {
    const size = disk.opened(file)?.size
    if (size === undefined) return undefined
    const bytes = Buffer.alloc(size)
    for (let done = 0; done < size; ) {
      const read = disk.read(file, bytes.subarray(done), done)
      if (read === 0) return undefined
      done += read
    }
    return bytes
  } catch {
    return undefined
  } finally {
    disk.close(file)
  }
}

/** Writes a file of devctl: writes a temporary file next to it, and renames the temporary file to the path. */
export function writeOwn(disk: Disk, path: string, bytes: Uint8Array): void {
  const temporary = `${path}.new`
  remove(disk, temporary)
  const file = disk.open(temporary, 'create')
  try {
    disk.write(file, bytes, 0)
  } finally {
    disk.close(file)
  }
  disk.rename(temporary, path)
}

/** Creates a folder and its parents. */
export function makeFolders(disk: Disk, path: string): void {
  if (path === '' || path === '/' || disk.entry(path) !== undefined) return
  makeFolders(disk, path.slice(0, path.lastIndexOf('/')))
  try {
    disk.makeFolder(path)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

function remove(disk: Disk, path: string): void {
  try {
    disk.removeFile(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
