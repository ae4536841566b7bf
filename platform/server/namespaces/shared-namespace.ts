import type { Member } from '../../records/member.ts'
import type { ManagedNamespace } from '../../records/namespace.ts'
import type { PlatformUser } from '../../records/user.ts'
import { mayDo, type NamespaceAction, type NamespaceRole } from '../../rules/accounts/roles.ts'
import { PlatformError } from '../http/platform-error.ts'

/** A namespace and its members. */
export interface SharedNamespace {
  readonly namespace: ManagedNamespace
  readonly members: readonly Member[]
  /** Resource version of the Namespace if it was read alone; absent if it was created or listed. */
  readonly version?: string
}

/** Name and UID of a namespace as it was read. A later namespace of the same name has a different UID. */
export type NamespaceRef = Pick<ManagedNamespace, 'name' | 'uid'>

export function roleIn({ namespace, members }: SharedNamespace, user: PlatformUser): NamespaceRole | undefined {
  // A global namespace belongs to all current administrators, and all users can view it.
  if (namespace.isGlobal) return user.role === 'admin' ? 'owner' : 'viewer'
  if (namespace.owner === user.id) return 'owner'
  return members.find(one => one.user === user.id)?.role
}

/** Returns true if a user may perform an action in a namespace. */
export const mayIn = (shared: SharedNamespace, user: PlatformUser, action: NamespaceAction): boolean =>
  mayDo({ platform: user.role, namespace: roleIn(shared, user) }, action)

/** Throws a PlatformError if a namespace is being deleted, because no new work may start in it. */
export function requireStaying({ name, status }: ManagedNamespace): void {
  if (status !== 'Deleting' && status !== 'DeleteFailed') return
  throw new PlatformError(409, 'deleting', `namespace \`${name}\` is being deleted`, {
    ...(status === 'DeleteFailed' && { hint: `\`devctl namespace delete ${name}\` tries again` }),
  })
}
