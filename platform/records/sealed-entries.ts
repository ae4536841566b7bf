import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL, RECORD_LABEL, USERS_NAMESPACE } from './names.ts'

/** Whose secrets a record has. A namespace counts by its uid: another one of the same name inherits nothing. */
export type SecretOwner =
  | { readonly kind: 'admin' }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'namespace'; readonly name: string; readonly uid: string }

/** What is kept sealed. */
export type SealedKind = 'variables' | 'credentials'

/** One of them: its value is sealed, the rest is for people to see. */
export interface SealedEntry {
  readonly sealed: string
  /** The id of who has set it. */
  readonly by: string
  /** RFC 3339. */
  readonly set: string
  /** Shown beside the name. */
  readonly note?: string
}

/** One name for each owner, as records and sealing use it. */
export const ownerName = (owner: SecretOwner): string => {
  if (owner.kind === 'admin') return 'admin'
  return owner.kind === 'user' ? `u-${owner.id}` : `n-${owner.uid}`
}

/** The record of an owner. */
export const sealedRef = (kind: SealedKind, owner: SecretOwner) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  name: `${kind}-${ownerName(owner)}`,
  namespace: USERS_NAMESPACE,
})

/** A record without entries yet. That of a namespace is deleted by the cluster, after the namespace. */
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

/** An entry as a value of the record's `data`. */
export const fromSealedEntry = (entry: SealedEntry): string => Buffer.from(JSON.stringify(entry)).toString('base64')

/** The entries of a record by their names, in alphabetical order; what is none is left out. */
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
