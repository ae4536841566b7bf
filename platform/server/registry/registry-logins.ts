import type { IncomingHttpHeaders } from 'node:http'
import type { ServerContext } from '../context.ts'
import { type Accounts, checkCaller, type Identified, identify, stillAllowed } from '../http/caller.ts'
import { notLoggedIn } from '../http/platform-error.ts'

/** Name and UID of a namespace. A later namespace of the same name has a different UID. */
export interface NamespaceId {
  readonly name: string
  readonly uid: string
}

/**
 * A client that is authenticated at the registry: a user with a platform token, a user with a login that was created
 * for one namespace, or the Pods of a namespace.
 */
export type RegistryCaller =
  | { readonly kind: 'person'; readonly by: Identified }
  | { readonly kind: 'worker'; readonly by: Identified; readonly namespace: NamespaceId }
  | { readonly kind: 'pods'; readonly namespace: NamespaceId; readonly made: number; readonly pullLogins?: string }

/** The sealed content of a registry login. The platform does not store it. */
interface Login {
  readonly namespace: NamespaceId
  /** The user and the token that the login was created with; absent for pull credentials of Pods. */
  readonly by?: { readonly user: string; readonly token: string }
  /** The id that valid credentials of the namespace contained at the time of creation; only for Pods. */
  readonly pullLogins?: string
  /** Creation time in milliseconds since 1970; only for Pods. */
  readonly made?: number
  /** Expiry time in milliseconds since 1970. */
  readonly ends: number
}

/** Format of registry logins. Their prefix lets secret scanners recognize them. */
const FORM = /^devctl_registry_(v1\.k\d+\.[\w-]+)$/
const SEALED_FOR = 'login of the registry'

/** Returns a registry password that is valid for one namespace. */
export const registryPassword = ({ sealing }: Pick<ServerContext, 'sealing'>, login: Login): string =>
  `devctl_registry_${sealing.seal(JSON.stringify(login), SEALED_FOR)}`

/**
 * Returns the caller that requests a registry token. Callers use a platform token, as for all other requests, or a user
 * name and a password, like all registry clients; the user name is ignored. Throws a PlatformError if there is no valid
 * login.
 */
export async function registryCaller(
  headers: IncomingHttpHeaders,
  world: Pick<ServerContext, 'sealing' | 'now'>,
  parts: Accounts,
): Promise<RegistryCaller> {
  const text = passwordOf(headers)
  if (text === undefined || text.startsWith('devctl_session_')) throw notLoggedIn()
  const [, sealed] = FORM.exec(text) ?? []
  if (sealed !== undefined) return holderOf(sealed, world, parts)
  const by = await identify(text, parts, world.now())
  checkCaller(by, { caller: 'user', isForRuns: true })
  return { kind: 'person', by }
}

async function holderOf(
  sealed: string,
  world: Pick<ServerContext, 'sealing' | 'now'>,
  parts: Accounts,
): Promise<RegistryCaller> {
  const { sealing, now } = world
  const opened = sealing.open(sealed, SEALED_FOR)
  if (opened === undefined) throw notLoggedIn()
  const { namespace, by, pullLogins, made = 0, ends } = JSON.parse(opened) as Login // we have sealed it
  if (ends <= now()) throw notLoggedIn()
  if (!by) return { kind: 'pods', namespace, made, ...(pullLogins !== undefined && { pullLogins }) }
  const [user, token] = await Promise.all([parts.users.find(by.user), parts.tokens.find(by.token)])
  if (!user || !token) throw notLoggedIn()
  await stillAllowed({ user, token }, parts, now())
  return { kind: 'worker', by: { user, token }, namespace }
}

/** Returns the password of `Basic …` with any user name, or the token of `Bearer …`; undefined for any other header. */
export function passwordOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  const [, scheme = '', value = ''] = /^(Basic|Bearer) ([\w.~+/=-]{1,4096})$/i.exec(authorization) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  const text = Buffer.from(value, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : text.slice(colon + 1)
}
