import { errorCode } from './disk.ts'

/** Path that cannot be synchronized at the moment. It is tried again; other paths continue. */
export interface SyncProblem {
  /** Name of the sync folder. */
  readonly folder: string
  readonly path: string
  readonly side: 'local' | 'remote'
  readonly message: string
}

/** Returns the reason why a call to the file system failed, in words. */
export function describeError(error: unknown): string {
  const code = errorCode(error)
  return (code && WORDS[code]) ?? (error instanceof Error ? error.message : String(error))
}

/** Describes an error with its path, for messages that do not otherwise say what could not be done. */
export function describeFailure(error: unknown): string {
  const words = describeError(error)
  const { path, message } = error as NodeJS.ErrnoException
  return path === undefined || words === message ? words : `${words}: ${path}`
}

/** Beginning of the message about a file for which the laptop's disk has no room. */
export const TOO_LITTLE_ROOM = 'the disk of this machine has too little room'

/** True if the message is about a disk without room for a file. */
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
