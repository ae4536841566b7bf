import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { NAMESPACE_ROLES } from '../rules/accounts/roles.ts'
import { isUserId } from '../rules/names.ts'
import type { Member } from './member.ts'
import { MANAGED_LABEL, RECORD_LABEL, USER_LABEL, USERS_NAMESPACE } from './names.ts'

/** A personal namespace that is being emptied, with the data needed to create it again. */
export interface EmptiedNamespace {
  readonly name: string
  /** The uid of the old namespace. */
  readonly uid: string
  readonly owner: string
  /** The members besides the owner. */
  readonly members: readonly Pick<Member, 'user' | 'role'>[]
}

/**
 * Returns the name of the record, a Secret in `devctl-users`. The id of the user is enough for the name, because each
 * user has only one personal namespace.
 */
export const emptiedName = (owner: string): string => `e-${owner}`

export const fromEmptied = ({ owner, name, uid, members }: EmptiedNamespace): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: emptiedName(owner),
    namespace: USERS_NAMESPACE,
    labels: { [RECORD_LABEL]: 'emptied', [MANAGED_LABEL]: 'true', [USER_LABEL]: owner },
  },
  type: 'dev.platform/emptied',
  data: {
    namespace: Buffer.from(
      JSON.stringify({ name, uid, members: members.map(({ user, role }) => ({ user, role })) }),
    ).toString('base64'),
  },
})

/** Parses a record. Returns undefined if the platform did not write it. */
export function toEmptied({ metadata, data }: KubeObject): EmptiedNamespace | undefined {
  const owner = metadata.name.replace(/^e-/, '')
  if (metadata.name !== emptiedName(owner) || !isUserId(owner)) return undefined
  try {
    const text = String((data as Readonly<Record<string, unknown>> | undefined)?.['namespace'])
    const found = JSON.parse(Buffer.from(text, 'base64').toString()) as Readonly<Record<string, unknown>> | null
    const { name, uid, members } = found ?? {}
    if (typeof name !== 'string' || name === '' || typeof uid !== 'string' || !Array.isArray(members)) return undefined
    return { name, uid, owner, members: members.flatMap(one => toOne(one) ?? []) }
  } catch {
    return undefined
  }
}

function toOne(one: unknown): EmptiedNamespace['members'][number] | undefined {
  const { user, role: said } = (one ?? {}) as Readonly<Record<string, unknown>>
  const role = NAMESPACE_ROLES.find(role => role === said)
  return typeof user === 'string' && isUserId(user) && role && role !== 'owner' ? { user, role } : undefined
}
