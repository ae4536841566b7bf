import type { IncomingHttpHeaders } from 'node:http'
import type { ServerContext } from '../context.ts'
import { type Accounts, checkCaller, type Identified, identify, stillAllowed } from '../http/caller.ts'
import { notLoggedIn } from '../http/platform-error.ts'

/** A namespace, by name and uid: a later one of the same name is another. */
export interface NamespaceId {
  readonly name: string
  readonly uid: string
}

/**
 * A client that logs in to the registry: a user with a token of the platform; a user with a login that was created for
 * one namespace; or the Pods of a namespace.
 */
export type RegistryCaller =
  | { readonly kind: 'person'; readonly by: Identified }
  | { readonly kind: 'worker'; readonly by: Identified; readonly namespace: NamespaceId }
  | { readonly kind: 'pods'; readonly namespace: NamespaceId; readonly made: number; readonly pullLogins?: string }

/** The sealed content of a login; the platform stores none of it. */
interface Login {
  readonly namespace: NamespaceId
  /** Absent: a login of the Pods of the namespace. */
  readonly by?: { readonly user: string; readonly token: string }
  /** Id that the namespace gave to valid logins when this one was created; for Pods. */
  readonly pullLogins?: string
  /** Milliseconds since 1970; for Pods. */
  readonly made?: number
  /** Milliseconds since 1970. */
  readonly ends: number
}

/** The prefix of logins, which lets scanners recognize them. */
const FORM = /^devctl_registry_(v1\.k\d+\.[\w-]+)$/
const SEALED_FOR = 'login of the registry'

/** A password for the registry that is valid for one namespace. */
export const registryPassword = ({ sealing }: Pick<ServerContext, 'sealing'>, login: Login): string =>
  `devctl_registry_${sealing.seal(JSON.stringify(login), SEALED_FOR)}`

/**
 * The caller that requests a token for the registry: with a user name and a password, as registry clients do (the name
 * is ignored), or with a token as everywhere else. Throws a PlatformError if there is no valid login.
 */
export async function registryCaller(
  headers: IncomingHttpHeaders,
  world: ServerContext,
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

async function holderOf(sealed: string, world: ServerContext, parts: Accounts): Promise<RegistryCaller> {
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

/** The password of `Basic …` with any name, or the token of `Bearer …`. */
export function passwordOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  const [, scheme = '', value = ''] = /^(Basic|Bearer) ([\w.~+/=-]{1,4096})$/i.exec(authorization) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  const text = Buffer.from(value, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : text.slice(colon + 1)
}
