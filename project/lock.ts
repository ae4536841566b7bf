import { createHash } from 'node:crypto'
import { parseJson, type Validator } from '../adapters/json/parse-json.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { FirstLockFile, LockFile } from './lock.schema.ts'
import { firstLockFile, lockFile, lockVersion } from './lock.validators.ts'

/**
 * Name of the lock. It is JSON, but has another extension, because kubectl and Argo CD treat every .json file of a
 * folder as a manifest.
 */
export const LOCK_NAME = '.devctl.lock'

/**
 * Files in a folder that were written by devctl. The lock depends only on these files, not on time, version or absolute
 * paths, and therefore changes only when a manifest does.
 */
export interface Lock {
  /** Application whose manifests the folder contains. */
  readonly application: string
  /** Compose files that the manifests were rendered from, as paths that the manifests record as their `source`. */
  readonly sources: readonly string[]
  /** Origin of the files; absent in folders that `render` wrote. */
  readonly facts?: Facts
  /**
   * Overlays that use a shared folder. The keys are the folders of the overlays, the values the names of the bases that
   * they use. Absent for a folder that is not shared.
   */
  readonly uses?: Readonly<Record<string, string>>
  /** Fingerprints of the written files. The keys are paths relative to the folder, with `/` as the separator. */
  readonly files: ReadonlyMap<string, string>
  /** Files that were about to be written when the lock was written; only present after a run that was killed. */
  readonly pending: ReadonlyMap<string, string>
}

/**
 * Facts that `publish` records about a rendering. They are only written when a manifest changes, so that a new version
 * of devctl alone causes no commit.
 */
export interface Facts {
  /** Value of `--environment`. */
  readonly environment?: string
  readonly namespace?: string
  readonly source: SourceFacts
  /** Name and version of the tool. */
  readonly tool: string
  /** Hashes of the Compose files and the manifest, by path in the source. Excludes files with secrets. */
  readonly inputs: Readonly<Record<string, string>>
  /** Images of services, as written in the manifests. */
  readonly images: Readonly<Record<string, string>>
  /** Command line options that affect the output. */
  readonly options: Readonly<Record<string, string>>
  /** Sorted names of the objects that are deployed from the folder, such as `deployment/web`. */
  readonly objects: readonly string[]
  /**
   * Marks for recognizing unchanged sealed values without decrypting them. Equal values have equal marks, which are
   * useless without the sealing key.
   */
  readonly sealed?: Readonly<Record<string, string>>
}

/** Location of the Compose files. */
export interface SourceFacts {
  /** Address of the repository, without credentials; absent outside a repository. */
  readonly repository?: string
  /** Path of the project's folder in the repository. */
  readonly path?: string
  readonly commit?: string
  /** True if the files had uncommitted changes. */
  readonly isDirty?: boolean
}

/** Returns the paths of all files in a lock, including those that a killed run was about to write. */
export const recordedFiles = ({ files, pending }: Lock): ReadonlySet<string> =>
  new Set([...files.keys(), ...pending.keys()])

const VERSION = 2

/** Returns the temporary path of a file, which is renamed to its final path after writing. */
export const temporaryName = (path: string) => `${path}.devctl-tmp`

/** Returns true if a file of an output folder contains a Secret. */
export function holdsSecret(path: string): boolean {
  return /(^|\/)secret-[^/]*$/.test(path)
}

/**
 * Returns the hash of a file's content, independent of the line ends of a checkout. Excludes the data of a Secret,
 * because a weak value could be guessed from a committed hash, unless SOPS has encrypted it.
 */
export function fingerprint(path: string, content: string): string {
  const text = content.replaceAll('\r\n', '\n')
  const told = holdsSecret(path) && !OF_SOPS.test(text) ? text.replace(YAML_DATA, '').replace(JSON_DATA, '') : text
  return `sha256:${createHash('sha256').update(told).digest('hex')}`
}

/** The key in which SOPS keeps how a file is encrypted, in YAML and JSON. */
const OF_SOPS = /^(?:sops:| {2}"sops": \{)/m
const YAML_DATA = /^(data|stringData):.*\n(?:(?: .*)?\n)*/gm
const JSON_DATA = /^ {2}"(data|stringData)": \{[\s\S]*?^ {2}\}/gm

/** Formats a lock as text. */
export function printLock(lock: Lock): string {
  const sorted = (map: ReadonlyMap<string, string>) => Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))
  const content = {
    version: VERSION,
    application: lock.application,
    sources: lock.sources,
    ...lock.facts,
    ...(lock.uses && { uses: sorted(new Map(Object.entries(lock.uses))) }),
    files: sorted(lock.files),
    ...(lock.pending.size > 0 && { pending: sorted(lock.pending) }),
  }
  return `${JSON.stringify(content, undefined, 2)}\n`
}

/** Parses a lock. `shown` is the file name for errors. Throws a UserError for a file that devctl did not write. */
export function parseLock(text: string, shown: string): Lock {
  const refuse = (why: string) =>
    new UserError(`\`${shown}\` ${why}`, {
      hint: 'restore it from version control, or move it away: devctl then treats every file of the folder as foreign',
    })
  const parse = <T>(validate: Validator<T>): T => {
    const read = parseJson(text, validate)
    if (read.ok) return read.value
    throw refuse(`is damaged: ${read.problem}`)
  }
  const { version } = parse(lockVersion)
  if (version !== VERSION && version !== 1) throw refuse('was written by another version of devctl')
  const lock = version === 1 ? fromFirstVersion(parse(firstLockFile)) : fromFile(parse(lockFile))
  for (const path of [...lock.files.keys(), ...lock.pending.keys()]) {
    // A lock comes from a repository, and must not make devctl delete files elsewhere.
    if (!isFile(path)) throw refuse(`names a file outside its folder: \`${path}\``)
  }
  // These folders are searched for in the repository.
  const outside = Object.keys(lock.uses ?? {}).find(path => path !== '.' && !isFile(path))
  if (outside !== undefined) throw refuse(`names a folder outside the repository: \`${outside}\``)
  return lock
}

const fromFirstVersion = ({ environment, ...rest }: FirstLockFile): Lock =>
  fromFile({ ...rest, version: VERSION, application: environment })

function fromFile(file: LockFile): Lock {
  const { application, sources = [], uses, files, pending = {} } = file
  const facts = factsIn(file)
  return {
    application,
    sources,
    ...(facts && { facts }),
    ...(uses && { uses }),
    files: new Map(Object.entries(files)),
    pending: new Map(Object.entries(pending)),
  }
}

function factsIn(file: LockFile): Facts | undefined {
  const { environment, namespace, source, tool = '', inputs = {}, images = {}, options = {}, objects = [] } = file
  if (!source) return undefined
  const { repository, path, commit, isDirty } = source
  return {
    ...(environment !== undefined && { environment }),
    ...(namespace !== undefined && { namespace }),
    source: {
      ...(repository !== undefined && { repository }),
      ...(path !== undefined && { path }),
      ...(commit !== undefined && { commit }),
      ...(isDirty && { isDirty }),
    },
    tool,
    inputs,
    images,
    options,
    objects,
    ...(file.sealed && { sealed: file.sealed }),
  }
}

const isFile = (path: string) => isInside(path) && path !== LOCK_NAME

/** Returns true if a relative path with `/` leads to a file below its base folder on every operating system. */
export function isInside(path: string): boolean {
  if (path === '' || path.includes('\\') || path.includes('\0') || /^[A-Za-z]:/.test(path)) return false
  return path.split('/').every(part => part !== '' && part !== '.' && part !== '..')
}
