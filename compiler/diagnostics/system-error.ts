/** True for an error of the operating system, such as those that node:fs throws. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error

/** Returns the reason why a file operation failed, in words. */
export function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException // what node:fs throws has a code
  return (code && REASONS[code]) ?? code ?? (error instanceof Error ? error.message : String(error))
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its symbolic links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  ENXIO: 'it is a socket',
  ERR_FS_FILE_TOO_LARGE: 'it is too large',
  EMFILE: 'too many files are open',
  EIO: 'the disk does not work',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'it is on a read-only disk',
}
