import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL, RECORD_LABEL, USERS_NAMESPACE } from './names.ts'

/**
 * The owner of a record's secrets. A namespace is identified by its UID, so a later namespace of the same name inherits
 * nothing.
 */
export type SecretOwner =
  | { readonly kind: 'admin' }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'namespace'; readonly name: string; readonly uid: string }

/** The kinds of sealed records. */
export type SealedKind = 'variables' | 'credentials'

/** A stored secret. Its value is sealed; the other fields can be shown. */
export interface SealedEntry {
  readonly sealed: string
  /** The id of the user who set the entry. */
  readonly by: string
  /** RFC 3339 time at which the entry was set. */
  readonly set: string
  /** Note that is shown next to the name. */
  readonly note?: string
}

/** Returns a unique name of the owner, for the record's name and for sealing. */
export const ownerName = (owner: SecretOwner): string => {
  if (owner.kind === 'admin') return 'admin'
  return owner.kind === 'user' ? `u-${owner.id}` : `n-${owner.uid}`
}

/** Returns the reference of an owner's record. */
export const sealedRef = (kind: SealedKind, owner: SecretOwner) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  name: `${kind}-${ownerName(owner)}`,
  namespace: USERS_NAMESPACE,
})

/** Returns an empty record. The record of a namespace is garbage-collected when the namespace is deleted. */
export function emptySealedRecord(kind: SealedKind, owner: SecretOwner): KubeObject {
  const { apiVersion, kind: secret, name, namespace } = sealedRef(kind, owner)
  return {
    apiVersion,
    kind: secret,
    metadata: {
      name,
      namespace,
      labels: { [RECORD_LABEL]: kind, [MANAGED_LABEL]: 'true' },
      ...(owner.kind === 'namespace' && {
        ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: owner.name, uid: owner.uid }],
      }),
    },
    type: `dev.platform/${kind}`,
    data: {},
  }
}

/** Encodes an entry as a value of the record's `data`. */
export const fromSealedEntry = (entry: SealedEntry): string => Buffer.from(JSON.stringify(entry)).toString('base64')

/** Returns the valid entries of a record, sorted by name. */
export function toSealedEntries({ data }: KubeObject): ReadonlyMap<string, SealedEntry> {
  if (typeof data !== 'object' || data === null) return new Map()
  const found = Object.entries(data).flatMap(([name, value]) => {
    const entry = toEntry(value)
    return entry ? [[name, entry] as const] : []
  })
  return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function toEntry(value: unknown): SealedEntry | undefined {
  if (typeof value !== 'string') return undefined
  try {
    const found: unknown = JSON.parse(Buffer.from(value, 'base64').toString())
    if (typeof found !== 'object' || found === null) return undefined
    const { sealed, by, set, note } = found as Readonly<Record<string, unknown>>
    if (typeof sealed !== 'string' || typeof by !== 'string' || typeof set !== 'string') return undefined
    return { sealed, by, set, ...(typeof note === 'string' && { note }) }
  } catch {
    return undefined
  }
}
