/** Gives the compiler access to files and variables. Synchronous. All paths are absolute. */
export interface CompilerHost {
  /** Reads a file. */
  readFile(path: string): FileContent
  /** Lists a folder, sorted by name; undefined if it is not a readable folder. */
  readDirectory(path: string): readonly DirectoryEntry[] | undefined
  /** Describes the file at a path, following symbolic links; undefined if there is none. */
  stat(path: string): FileStat | undefined
  /** Resolves symbolic links; gives the path itself if it does not exist. */
  realPath(path: string): string
  /** Looks a variable up in the process environment, then in the platform's variables. */
  variable(name: string): HostVariable | undefined
  /** The variables set by `--var`: secret regardless of their names. */
  readonly secretVariables?: ReadonlySet<string>
  /** The process environment alone. The compiler looks variables up and never lists them. */
  readonly environment: Pick<ReadonlyMap<string, string>, 'get'>
  /**
   * Classifies a path that leads out of the project, following symbolic links; undefined if it is
   * inside. `mayRead` calls it before a file that a project names is read. Absent: every path
   * counts as inside.
   */
  outside?(path: string): Outside | undefined
  /**
   * Hashes (hex) all input of a build: the context after .dockerignore, the Dockerfile, target,
   * arguments and other settings. Undefined if the context is not a local folder.
   */
  hashBuild(build: BuildInput, spend?: SpendOnBuild): string | undefined
  readonly homeDirectory: string | undefined
  /** A monotonic clock in milliseconds, for the time limit. Absent: there is no limit. */
  now?(): number
  /**
   * The innermost git checkout that contains a folder; undefined if there is none. Each checkout is
   * read once, and only if a host path is used.
   */
  checkout(folder: string): Checkout | undefined
}

/** A working tree of git and the files in its index. */
export interface Checkout {
  /** Its root folder, symbolic links resolved. */
  readonly root: string
  /** Sorted by path, by code units; empty if `failure` is set. */
  readonly files: readonly TrackedFile[]
  /** Reason why the index could not be read. */
  readonly failure?: string
}

/** A file in the index of a git checkout. */
export interface TrackedFile {
  /** Relative to the root folder. */
  readonly path: string
  readonly kind: 'file' | 'executable' | 'link' | 'submodule'
  /** Absent from the working tree because of a sparse checkout. */
  readonly isSparse?: true
}

/** A path outside the project. */
export interface Outside {
  /** The path with symbolic links resolved. */
  readonly path: string
  /** `system` and `refused`: must not be read; `read`: with a warning; `allowed`: by the user. */
  readonly is: 'system' | 'refused' | 'read' | 'allowed'
}

/** The content of a file, or why it cannot be read. */
export type FileContent =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly executable?: boolean }
  | { readonly kind: 'missing' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** An entry of a folder. */
export interface DirectoryEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'other'
}

/** The kind and size of a file. */
export interface FileStat {
  readonly kind: 'file' | 'folder' | 'other'
  /** Bytes; meaningful for files only. */
  readonly size: number
}

/** A variable of the process environment or of the platform. */
export interface HostVariable {
  readonly value: string
  readonly source: 'shell' | 'platform'
}

/** Counts files, bytes and patterns of a build context against their limits; throws at a limit. */
export type SpendOnBuild = (limit: 'files' | 'context' | 'patterns', amount: number) => void

/** The input that determines the image of a build. Paths are absolute. */
export interface BuildInput {
  readonly context: string
  readonly dockerfile?: string | undefined
  readonly dockerfileInline?: string | undefined
  readonly target?: string | undefined
  readonly args: readonly (readonly [string, string])[]
  /** Other settings that change the image, each as words, in an order that does not vary. */
  readonly settings?: readonly (readonly string[])[]
}
