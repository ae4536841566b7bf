/**
 * State of a path on one side. Times are milliseconds of that side's clock. The `ctime` of a folder is its creation
 * time, which distinguishes it from another folder at the same path.
 */
export interface FileEntry {
  readonly kind: 'file' | 'folder' | 'link'
  /** Size of a file in bytes; 0 for other kinds. */
  readonly size: number
  readonly mtime: number
  readonly ctime: number
  readonly inode: number
  /** True for an executable file; undefined on Windows, whose file system does not record this. */
  readonly executable: boolean | undefined
  /** Target of a link, as written. */
  readonly target?: string | undefined
  /** SHA-256 of the contents, if they were read. */
  readonly hash?: string | undefined
  /** True in the container if the file is unchanged from the image. */
  readonly isOfImage?: boolean | undefined
}

/**
 * Copies an entry and adds the known fields. All entries are created here, with the same properties in the same order:
 * V8 would give each object that is created with spread syntax a separate shape, which takes more memory than its
 * contents.
 */
export function copyEntry(entry: FileEntry, known: Pick<FileEntry, 'hash' | 'isOfImage'> = {}): FileEntry {
  const { kind, size, mtime, ctime, inode, executable, target } = entry
  const { hash = entry.hash, isOfImage = entry.isOfImage } = known
  return { kind, size, mtime, ctime, inode, executable, target, hash, isOfImage }
}

/**
 * State of both sides when they last agreed. One side is undefined for a folder that exists only on the other side and
 * stays there.
 */
export interface Agreed {
  readonly local: FileEntry | undefined
  readonly remote: FileEntry | undefined
  /**
   * True if every version of the path so far came from the container, including the version that is now on the laptop.
   */
  readonly isTheirs?: boolean
}

/**
 * Returns true if nothing has changed a path since `before`. The change time (ctime) also reveals files written with an
 * old modification time.
 */
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

/** Entry in a message: null if the path does not exist, otherwise a list. The hash is not sent. */
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

/** Decodes an entry of the other side. Throws an Error if the value is not an entry. */
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

/** Creates the entry of a file from its known fields. */
export const fileEntry = (file: Omit<FileEntry, 'kind' | 'target'>): FileEntry => {
  const { size, mtime, ctime, inode, executable, hash, isOfImage } = file
  return { kind: 'file', size, mtime, ctime, inode, executable, target: undefined, hash, isOfImage }
}

/** Values of the fields that only files have. For a folder, only its existence is synchronized. */
const NOTHING = { size: 0, mtime: 0, ctime: 0, inode: 0, executable: undefined }
export const FOLDER: FileEntry = copyEntry({ ...NOTHING, kind: 'folder' })
const FOLDER_OF_IMAGE: FileEntry = copyEntry(FOLDER, { isOfImage: true })

export const linkEntry = (target: string, isOfImage?: boolean): FileEntry =>
  copyEntry({ ...NOTHING, kind: 'link', target, isOfImage: isOfImage || undefined })
