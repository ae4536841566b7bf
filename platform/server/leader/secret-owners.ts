import type { SecretOwner } from '../../records/sealed-entries.ts'
import type { Identified } from '../http/caller.ts'
import { noNamespace, onlyFor } from '../http/platform-error.ts'
import type { Namespaces } from '../namespaces/namespaces.ts'

/** The intended use of stored secrets. */
export type OwnerUse = 'see' | 'change'

/**
 * Kinds of tokens that may only deploy. They are used by code of a repository, which must not change the secrets of
 * other deploys.
 */
const WORKERS: ReadonlySet<string> = new Set(['run', 'ci'])

/**
 * Returns the owner of the secrets in a scope (`admin`, `user`, `namespace:NAME`). Throws a PlatformError if the caller
 * may not see or change the secrets, depending on `use`. Every user can list the names of platform-wide secrets, but
 * only administrators can change these secrets.
 */
export async function secretOwner(
  { user, token }: Identified,
  scope: string,
  use: OwnerUse,
  what: string,
  namespaces: Namespaces,
): Promise<SecretOwner> {
  if (WORKERS.has(token.kind)) throw onlyFor(what, 'somebody who has logged in', 'tokens of runs and of CI jobs cannot')
  if (scope === 'user') return { kind: 'user', id: user.id }
  if (scope === 'admin') {
    if (use === 'change' && user.role !== 'admin') throw onlyFor(what, 'an administrator')
    return { kind: 'admin' }
  }
  const name = scope.replace(/^namespace:/, '')
  return namespaceOwner({ user, token }, name, 'variables', what, namespaces)
}

/** A namespace whose secrets the caller may use. */
type OwningNamespace = Extract<SecretOwner, { kind: 'namespace' }> & {
  readonly isUntrusted: boolean
  readonly lastActive: string
}

/**
 * Returns the owner of a namespace's secrets. Throws a PlatformError if the caller may not perform the action in the
 * namespace, or if the caller's token is not valid for the namespace.
 */
export async function namespaceOwner(
  { user, token }: Identified,
  name: string,
  action: 'variables' | 'deploy',
  what: string,
  namespaces: Namespaces,
): Promise<OwningNamespace> {
  if (token.namespaces && !token.namespaces.includes(name)) throw noNamespace(name)
  const { namespace } = await namespaces.require(user, name, action, what)
  // The UID and the members are read together: a namespace that another user creates again has a different UID.
  const { uid, isUntrusted = false, lastActive } = namespace
  if (uid === undefined) throw noNamespace(name)
  return { kind: 'namespace', name, uid, isUntrusted, lastActive }
}
