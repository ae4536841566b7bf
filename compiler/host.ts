/** Access of the compiler to files and variables. All functions are synchronous, and all paths are absolute. */
export interface CompilerHost {
  /** Reads a file. */
  readFile(path: string): FileContent
  /** Lists a folder, sorted by name; undefined if it is not a readable folder. */
  readDirectory(path: string): readonly DirectoryEntry[] | undefined
  /** Describes the file at a path, following symbolic links; undefined if the file does not exist. */
  stat(path: string): FileStat | undefined
  /** Resolves symbolic links; returns the path unchanged if it does not exist. */
  realPath(path: string): string
  /** Looks a variable up in the process environment, then in the platform's variables. */
  variable(name: string): HostVariable | undefined
  /** Names of the variables set with `--var`. Their values are secret, whatever the names are. */
  readonly secretVariables?: ReadonlySet<string>
  /**
   * The process environment, without the variables of the platform. The compiler only looks up variables by name and
   * never lists them.
   */
  readonly environment: Pick<ReadonlyMap<string, string>, 'get'>
  /**
   * Classifies a path outside the project, following symbolic links; undefined if the path is inside. `mayRead` calls
   * it before it reads a file that a project names. If absent, every path counts as inside.
   */
  outside?(path: string): Outside | undefined
  /**
   * Returns a hash (hex) of everything that a build reads: the Dockerfile, target, arguments, other settings, and the
   * context without the files that .dockerignore excludes. Returns undefined if the context is not a local folder.
   */
  hashBuild(build: BuildInput, spend?: SpendOnBuild): string | undefined
  readonly homeDirectory: string | undefined
  /** Returns the time of a monotonic clock in milliseconds, for the time limit. If absent, time is not limited. */
  now?(): number
  /**
   * Returns the innermost git checkout that contains a folder; undefined if the folder is not in a checkout. The
   * compiler calls this function only if a service uses a host path. Each checkout is read only once.
   */
  checkout(folder: string): Checkout | undefined
}

/** A git working tree and the files in its index. */
export interface Checkout {
  /** The root folder of the working tree, with symbolic links resolved. */
  readonly root: string
  /** The tracked files, sorted by path in code unit order. Empty if `failure` is set. */
  readonly files: readonly TrackedFile[]
  /** Reason why the index could not be read. */
  readonly failure?: string
}

/** A file in the index of a git checkout. */
export interface TrackedFile {
  /** Path relative to the root folder. */
  readonly path: string
  readonly kind: 'file' | 'executable' | 'link' | 'submodule'
  /** Set if a sparse checkout excludes the file from the working tree. */
  readonly isSparse?: true
}

/** A path outside the project. */
export interface Outside {
  /** The path with symbolic links resolved. */
  readonly path: string
  /**
   * Access to the path: `system` and `refused` paths must not be read, `read` paths are read with a warning, and
   * `allowed` paths were allowed by the user.
   */
  readonly is: 'system' | 'refused' | 'read' | 'allowed'
}

/** The content of a file, or the reason why it cannot be read. */
export type FileContent =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly executable?: boolean }
  | { readonly kind: 'missing' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** A file or folder in a folder, with its name and kind. */
export interface DirectoryEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'other'
}

/** The kind and size of a file. */
export interface FileStat {
  readonly kind: 'file' | 'folder' | 'other'
  /** Size in bytes. Meaningful only for files. */
  readonly size: number
}

/** A variable of the process environment or of the platform. */
export interface HostVariable {
  readonly value: string
  readonly source: 'shell' | 'platform'
}

/**
 * Counts the files, bytes and patterns of a build context against their limits; throws OverBudget if a limit is
 * exceeded.
 */
export type SpendOnBuild = (limit: 'files' | 'context' | 'patterns', amount: number) => void

/** The input that determines the image of a build. All paths are absolute. */
export interface BuildInput {
  readonly context: string
  readonly dockerfile?: string | undefined
  readonly dockerfileInline?: string | undefined
  readonly target?: string | undefined
  readonly args: readonly (readonly [string, string])[]
  /** Other settings that change the image, each as a list of strings, in a stable order. */
  readonly settings?: readonly (readonly string[])[]
}
