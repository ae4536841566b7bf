import { createHash } from 'node:crypto'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** JSON, but not named so: kubectl and Argo CD take every .json file of a folder for a manifest. */
export const LOCK_NAME = '.devctl.lock'

/**
 * Which files of a folder are devctl's. It follows from what is written and from nothing else: no time, no version, no absolute path,
 * so that it changes only when a manifest does.
 */
export interface Lock {
  /** The environment whose manifests the folder holds. */
  readonly environment: string
  /** The Compose files they came from, as the manifests name them. */
  readonly sources: readonly string[]
  /** Where the Compose files are kept, written by `publish`. */
  readonly source?: Readonly<Record<string, string>>
  /** Paths with `/`, and the fingerprint of each file as it was written. */
  readonly files: ReadonlyMap<string, string>
  /** Files that were about to be written when the lock was: only seen after a run that was killed. */
  readonly pending: ReadonlyMap<string, string>
}

/** Where a file is written before it is renamed to its place. */
export const temporaryName = (path: string) => `${path}.devctl-tmp`

/** Whether a file of an output folder holds a Secret. */
export function holdsSecret(path: string): boolean {
  return /(^|\/)secret-[^/]*$/.test(path)
}

/**
 * What identifies the content of a file, whatever line ends a checkout gave it. The data of a Secret does not take part: from a hash that
 * is committed, a weak value could be guessed (decisions section 4).
 */
export function fingerprint(path: string, content: string): string {
  const text = content.replaceAll('\r\n', '\n')
  const told = holdsSecret(path) ? text.replace(YAML_DATA, '').replace(JSON_DATA, '') : text
  return `sha256:${createHash('sha256').update(told).digest('hex')}`
}

const YAML_DATA = /^(data|stringData):.*\n(?:(?: .*)?\n)*/gm
const JSON_DATA = /^ {2}"(data|stringData)": \{[\s\S]*?^ {2}\}/gm

/** The text of a lock. */
export function printLock(lock: Lock): string {
  const sorted = (map: ReadonlyMap<string, string>) => Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))
  const content = {
    version: 1,
    environment: lock.environment,
    sources: lock.sources,
    ...(lock.source && { source: lock.source }),
    files: sorted(lock.files),
    ...(lock.pending.size > 0 && { pending: sorted(lock.pending) }),
  }
  return `${JSON.stringify(content, undefined, 2)}\n`
}

/** Reads a lock. `shown` names its file in errors. Throws a UserError for one that devctl did not write. */
export function parseLock(text: string, shown: string): Lock {
  const refuse = (why: string) =>
    new UserError(`\`${shown}\` ${why}`, {
      hint: 'take it back from version control, or move it away: devctl then treats every file of the folder as foreign',
    })
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw refuse('is damaged: it is no JSON')
  }
  if (!isRecord(content)) throw refuse('is damaged')
  if (content.version !== 1) throw refuse('was written by another version of devctl')
  const { environment, sources, source, files, pending = {} } = content
  if (typeof environment !== 'string' || !isTextMap(files) || !isTextMap(pending)) throw refuse('is damaged')
  for (const path of [...Object.keys(files), ...Object.keys(pending)]) {
    // A lock comes from a repository: it must not make us remove anything elsewhere.
    if (!isInside(path)) throw refuse(`names a file outside its folder: \`${path}\``)
  }
  return {
    environment,
    sources: Array.isArray(sources) ? sources.map(String) : [],
    ...(isTextMap(source) && { source }),
    files: new Map(Object.entries(files)),
    pending: new Map(Object.entries(pending)),
  }
}

function isInside(path: string): boolean {
  if (path === '' || path.includes('\\') || path.includes('\0') || /^[A-Za-z]:/.test(path)) return false
  return path.split('/').every(part => part !== '' && part !== '.' && part !== '..') && path !== LOCK_NAME
}

function isTextMap(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every(one => typeof one === 'string')
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
