import type { SecretOwner } from '../records/sealed-entries.ts'
import type { Identified } from './caller.ts'
import type { Namespaces } from './namespaces.ts'
import { noNamespace, notAllowed } from './platform-error.ts'

/** What somebody wants with secrets that are kept for others. */
export type OwnerUse = 'see' | 'change'

/** Tokens of what is only to deploy: it runs the code of a repository, and is to leave nothing for other deploys. */
const WORKERS: ReadonlySet<string> = new Set(['run', 'ci'])

/**
 * Whose secrets a scope is (`admin`, `user`, `namespace:NAME`), if the caller may do that. Everybody sees which there
 * are for everybody; only administrators change those. Throws a PlatformError.
 */
export async function secretOwner(
  { user, token }: Identified,
  scope: string,
  use: OwnerUse,
  what: string,
  namespaces: Namespaces,
): Promise<SecretOwner> {
  if (WORKERS.has(token.kind)) throw notAllowed(what, 'a login: the token of a run or of CI does not do')
  if (scope === 'user') return { kind: 'user', id: user.id }
  if (scope === 'admin') {
    if (use === 'change' && user.role !== 'admin') throw notAllowed(what, 'an administrator')
    return { kind: 'admin' }
  }
  const name = scope.replace(/^namespace:/, '')
  return namespaceOwner({ user, token }, name, 'variables', what, namespaces)
}

/** The owner of what a namespace has, if the caller may do that there with the token they have. */
export async function namespaceOwner(
  { user, token }: Identified,
  name: string,
  action: 'variables' | 'deploy',
  what: string,
  namespaces: Namespaces,
): Promise<Extract<SecretOwner, { kind: 'namespace' }> & { readonly isUntrusted: boolean }> {
  if (token.namespaces && !token.namespaces.includes(name)) throw noNamespace(name)
  const { namespace } = await namespaces.require(user, name, action, what)
  // Read together with who its members are: one that is made again by somebody else has another uid.
  if (namespace.uid === undefined) throw noNamespace(name)
  return { kind: 'namespace', name, uid: namespace.uid, isUntrusted: namespace.isUntrusted === true }
}
