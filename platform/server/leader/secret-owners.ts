import type { SecretOwner } from '../../records/sealed-entries.ts'
import type { Identified } from '../http/caller.ts'
import { noNamespace, onlyFor } from '../http/platform-error.ts'
import type { Namespaces } from '../namespaces/namespaces.ts'

/** The use of stored secrets that a caller asks for. */
export type OwnerUse = 'see' | 'change'

/**
 * Kinds of tokens that may only deploy: they are used by code of a repository, which must not leave anything for other
 * deploys.
 */
const WORKERS: ReadonlySet<string> = new Set(['run', 'ci'])

/**
 * Returns the owner of the secrets of a scope (`admin`, `user`, `namespace:NAME`), if the caller may do this. Every
 * user can list the platform-wide names; only administrators can change them. Throws a PlatformError.
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

/** The owner of a namespace's secrets, if the caller may do this there with their token. */
export async function namespaceOwner(
  { user, token }: Identified,
  name: string,
  action: 'variables' | 'deploy',
  what: string,
  namespaces: Namespaces,
): Promise<OwningNamespace> {
  if (token.namespaces && !token.namespaces.includes(name)) throw noNamespace(name)
  const { namespace } = await namespaces.require(user, name, action, what)
  // Read together with the members: a namespace that another user creates again has another uid.
  const { uid, isUntrusted = false, lastActive } = namespace
  if (uid === undefined) throw noNamespace(name)
  return { kind: 'namespace', name, uid, isUntrusted, lastActive }
}
