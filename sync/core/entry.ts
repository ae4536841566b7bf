/**
 * What is at a path, as one side sees it. Times are milliseconds of that side's clock. A folder has the time of its
 * creation as `ctime`, by which another one in its place is known.
 */
export interface FileEntry {
  readonly kind: 'file' | 'folder' | 'link'
  /** 0 but for files. */
  readonly size: number
  readonly mtime: number
  readonly ctime: number
  readonly inode: number
  /** Undefined where the file system does not know: Windows. */
  readonly executable: boolean | undefined
  /** Where a link leads, as written. */
  readonly target?: string | undefined
  /** SHA-256 of the contents, if they have been read. */
  readonly hash?: string | undefined
  /** In the container: the file is as the image has it. */
  readonly isOfImage?: boolean | undefined
}

/**
 * A copy with what is known besides. All entries are made here, with the same properties in the same order: for objects
 * that are made by spreading others, V8 keeps a shape each, which takes more memory than what is in them.
 */
export function copyEntry(entry: FileEntry, known: Pick<FileEntry, 'hash' | 'isOfImage'> = {}): FileEntry {
  const { kind, size, mtime, ctime, inode, executable, target } = entry
  const { hash = entry.hash, isOfImage = entry.isOfImage } = known
  return { kind, size, mtime, ctime, inode, executable, target, hash, isOfImage }
}

/** What both sides had when they last agreed. One of them is undefined for a folder that stays on one side only. */
export interface Agreed {
  readonly local: FileEntry | undefined
  readonly remote: FileEntry | undefined
  /** True if only the container has ever made it: the laptop has what came from there. */
  readonly isTheirs?: boolean
}

/** Whether nothing has touched a path since: the change time also tells of contents written with their old times. */
export function isUntouched(before: FileEntry | undefined, now: FileEntry | undefined): boolean {
  if (before === now) return true
  if (before?.kind !== now?.kind || !before || !now) return false
  if (before.kind === 'folder') return true
  if (before.kind === 'link') return before.target === now.target
  return (
    before.size === now.size &&
    before.mtime === now.mtime &&
    before.ctime === now.ctime &&
    before.inode === now.inode &&
    before.executable === now.executable
  )
}

export const isFolder = (entry: FileEntry | undefined): boolean => entry?.kind === 'folder'

/** An entry in a message: null for nothing, else a list. The hash stays at home. */
export type WireEntry =
  | null
  | readonly ['d', number?]
  | readonly ['l', string, number?]
  | readonly ['f', number, number, number, number, number, number?]

const UNKNOWN = 2

export function encodeEntry(entry: FileEntry | undefined): WireEntry {
  if (!entry) return null
  const image = entry.isOfImage ? ([1] as const) : ([] as const)
  if (entry.kind === 'folder') return ['d', ...image]
  if (entry.kind === 'link') return ['l', entry.target ?? '', ...image]
  const executable = entry.executable === undefined ? UNKNOWN : Number(entry.executable)
  return ['f', entry.size, entry.mtime, entry.ctime, entry.inode, executable, ...image]
}

/** Reads an entry of the other side. Throws an Error if it is not one. */
export function decodeEntry(value: unknown): FileEntry | undefined {
  if (value === null) return undefined
  if (!Array.isArray(value)) throw new Error('an entry is not a list')
  const [kind, ...fields] = value as readonly unknown[]
  if (kind === 'd') return fields[0] === 1 ? FOLDER_OF_IMAGE : FOLDER
  if (kind === 'l' && typeof fields[0] === 'string') return linkEntry(fields[0], fields[1] === 1)
  if (kind !== 'f' || !fields.every(field => typeof field === 'number' && Number.isFinite(field)))
    throw new Error('an entry is of no known kind')
  const [size, mtime, ctime, inode, executable, image] = fields as readonly number[]
  if (inode === undefined || executable === undefined || !Number.isSafeInteger(size) || size! < 0)
    throw new Error('an entry is incomplete')
  const isExecutable = executable === UNKNOWN ? undefined : executable === 1
  const isOfImage = image === 1 ? true : undefined
  return fileEntry({ size: size!, mtime: mtime!, ctime: ctime!, inode, executable: isExecutable, isOfImage })
}

/** What is known of a file. */
export const fileEntry = (file: Omit<FileEntry, 'kind' | 'target'>): FileEntry => {
  const { size, mtime, ctime, inode, executable, hash, isOfImage } = file
  return { kind: 'file', size, mtime, ctime, inode, executable, target: undefined, hash, isOfImage }
}

/** Folders have nothing that is synchronized but that they are there. */
const NOTHING = { size: 0, mtime: 0, ctime: 0, inode: 0, executable: undefined }
export const FOLDER: FileEntry = copyEntry({ ...NOTHING, kind: 'folder' })
const FOLDER_OF_IMAGE: FileEntry = copyEntry(FOLDER, { isOfImage: true })

export const linkEntry = (target: string, isOfImage?: boolean): FileEntry =>
  copyEntry({ ...NOTHING, kind: 'link', target, isOfImage: isOfImage || undefined })
