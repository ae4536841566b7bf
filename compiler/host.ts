/** What the compiler may ask of the world. Synchronous; the only way in for files and variables. Paths are absolute. */
export interface CompilerHost {
  /** The bytes of a file, or why there are none. */
  readFile(path: string): FileContent
  /** The names in a folder, sorted, or undefined when it is no folder that can be read. */
  readDirectory(path: string): readonly DirectoryEntry[] | undefined
  /** What is at a path, symbolic links followed. */
  stat(path: string): FileStat | undefined
  /** The path with symbolic links resolved; the path itself where it does not exist. */
  realPath(path: string): string
  /** A variable of the process environment, or of the platform when it has none there. */
  variable(name: string): HostVariable | undefined
  /** Those of the process environment that are secret whatever they are called: `--var` has set them. */
  readonly secretVariables?: ReadonlySet<string>
  /** The variables of the process environment alone. Asked for by name: nothing lists them. */
  readonly environment: Pick<ReadonlyMap<string, string>, 'get'>
  /** What a path is, links followed, where it leads out of the project; absent: nothing is outside. Who reads a file that a project names asks first (`project/outside.ts`). */
  outside?(path: string): Outside | undefined
  /** Hash (hex) of everything that a build reads: the context after .dockerignore, Dockerfile, target and arguments. Undefined for a context that is not a folder of this machine. */
  hashBuild(build: BuildInput, spend?: SpendOnBuild): string | undefined
  readonly homeDirectory: string | undefined
  /** Milliseconds since any fixed moment, for the limit of time; absent: there is none. */
  now?(): number
  /** The git checkout that a folder is in, the innermost one; undefined outside of any. Asked for only where a host path is used; each checkout is read once. */
  checkout(folder: string): Checkout | undefined
}

/** A working tree of git, and what its index lists. */
export interface Checkout {
  /** Its top folder, symbolic links resolved. */
  readonly root: string
  /** Sorted by path in the order of code units; empty where `failure` is set. */
  readonly files: readonly TrackedFile[]
  /** Why git cannot say what it tracks. */
  readonly failure?: string
}

export interface TrackedFile {
  /** Relative to the top folder. */
  readonly path: string
  readonly kind: 'file' | 'executable' | 'link' | 'submodule'
  /** Left out of this working tree by a sparse checkout. */
  readonly isSparse?: true
}

export interface Outside {
  /** The path with symbolic links resolved. */
  readonly path: string
  /** Refused, because it is the system's or for being outside; read with a warning; or wanted by the user. */
  readonly is: 'system' | 'refused' | 'read' | 'allowed'
}

export type FileContent =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly executable?: boolean }
  | { readonly kind: 'missing' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'unreadable'; readonly reason: string }

export interface DirectoryEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'other'
}

export interface FileStat {
  readonly kind: 'file' | 'folder' | 'other'
  /** Bytes; of a file only. */
  readonly size: number
}

export interface HostVariable {
  readonly value: string
  readonly source: 'shell' | 'platform'
}

/** Told of the files, bytes and patterns of a context before they are read; throws where they are too many. */
export type SpendOnBuild = (limit: 'files' | 'context' | 'patterns', amount: number) => void

export interface BuildInput {
  readonly context: string
  readonly dockerfile?: string | undefined
  readonly dockerfileInline?: string | undefined
  readonly target?: string | undefined
  readonly args: readonly (readonly [string, string | null])[]
}
