import { errorCode } from './disk.ts'

/** Path that cannot be synchronized at the moment. It is retried, and other paths continue. */
export interface SyncProblem {
  /** Name of the sync folder. */
  readonly folder: string
  readonly path: string
  readonly side: 'local' | 'remote'
  readonly message: string
}

/** Describes why a file system call failed. */
export function describeError(error: unknown): string {
  const code = errorCode(error)
  return (code && WORDS[code]) ?? (error instanceof Error ? error.message : String(error))
}

/** Describes an error together with its path, for messages that do not otherwise name the failed action. */
export function describeFailure(error: unknown): string {
  const words = describeError(error)
  const { path, message } = error as NodeJS.ErrnoException
  return path === undefined || words === message ? words : `${words}: ${path}`
}

/** Start of the message about a file that does not fit on the laptop's disk. */
export const TOO_LITTLE_ROOM = 'the disk of this machine has too little room'

/** Returns true if the message is about a disk without space for a file. */
export const isFull = (message: string): boolean =>
  message === WORDS['ENOSPC'] || message === WORDS['EDQUOT'] || message.startsWith(TOO_LITTLE_ROOM)

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EFBIG: 'the file is too large for the disk',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'the name is too long',
  EILSEQ: 'the file system does not allow this name',
  EINVAL: 'the file system does not allow this name or time',
  ELOOP: 'a link is in the way',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EBUSY: 'the file is in use',
  ETXTBSY: 'the program is running',
  EIO: 'the disk could not be read or written',
  ENOTEMPTY: 'the folder holds files that are ignored or have just been made',
  EEXIST: 'something else is there',
}
