import { createHmac } from 'node:crypto'
import type { KubernetesObject, Manifest } from '../../../constructs/manifest.ts'
import { fingerprint, type Lock, recordedFiles } from '../../../project/lock.ts'
import type { SealMarks } from '../../encryption/seal.ts'
import type { SealingKey } from '../../encryption/sealing-key.ts'
import { objectsOf } from '../../repository/manifest-files.ts'
import type { Repository } from '../../repository/publication.ts'

/** Manifests whose Secrets are encrypted. */
export interface Encrypted {
  readonly manifests: readonly Manifest[]
  /** Marks that the next run uses to recognize unchanged values. */
  readonly marks: SealMarks
  /**
   * True if the existing Secrets were marked with another key, so that devctl cannot tell which values are unchanged.
   */
  readonly isAnew: boolean
}

/** A Secret as encrypted by an earlier run. */
export interface KeptSecret {
  readonly encrypted: KubernetesObject
  readonly marks: SealMarks
}

/** Name of the mark of the key itself; the names of value marks contain a slash. */
const KEY_MARK = 'key'

/** Returns the mark of the key itself, which shows whether earlier marks were computed with this key. */
export function markOfKey({ key }: SealingKey): Record<string, string> {
  return { [KEY_MARK]: createHmac('sha256', key).update(KEY_MARK).digest('hex') }
}

/** True if the marks of the Secrets in the folder were computed with another key. */
export function isKeyAnew(there: Repository, path: string, key: SealingKey): boolean {
  const ofKey = markOfKey(key)[KEY_MARK]
  const before = there.lock(path)?.facts?.sealed ?? {}
  return Object.keys(before).length > 0 && (before[KEY_MARK] ?? (key.isNew ? '' : ofKey)) !== ofKey
}

/**
 * Returns the Secrets that earlier runs encrypted, by name: the Secrets in the folder at `path` (`onBranch`), and the
 * Secrets on the branch of the folder's pull request (`onRequest`). Leaves out files that were edited since,
 * because nobody without the private key can tell what they contain now.
 */
export async function keptIn(
  there: Repository,
  path: string,
  kind: 'SealedSecret' | 'Secret',
): Promise<{
  readonly onBranch: ReadonlyMap<string, KeptSecret>
  readonly onRequest: ReadonlyMap<string, KeptSecret>
}> {
  return {
    onBranch: await encryptedIn(there.lock(path), path, kind, async file => there.read(file)),
    onRequest: await encryptedIn(await there.request.lock(path), path, kind, there.request.read),
  }
}

async function encryptedIn(
  lock: Lock | undefined,
  path: string,
  kind: 'SealedSecret' | 'Secret',
  read: (file: string) => Promise<string | undefined>,
): Promise<ReadonlyMap<string, KeptSecret>> {
  const marks = Object.entries(lock?.facts?.sealed ?? {})
  if (!lock || marks.length === 0) return new Map()
  const texts = new Map<string, string>()
  const prefix = `/${kind.toLowerCase()}-`
  // A file contains one object, or all objects.
  for (const file of [...recordedFiles(lock)].filter(file => !file.includes('/') || file.includes(prefix))) {
    const text = await read(path === '.' ? file : `${path}/${file}`)
    if (text === undefined || !text.includes(`kind: ${kind}`)) continue
    const found = fingerprint(file, text)
    if (lock.files.get(file) === found || lock.pending.get(file) === found) texts.set(file, text)
  }
  const objects = (await objectsOf(texts)).filter(object => object.kind === kind)
  return new Map(
    objects.map(encrypted => {
      const { name } = encrypted.metadata
      const own = marks.filter(([mark]) => mark.startsWith(`${name}/`))
      return [
        name,
        { encrypted, marks: Object.fromEntries(own.map(([mark, value]) => [mark.slice(name.length + 1), value])) },
      ]
    }),
  )
}
