import type { IncomingHttpHeaders } from 'node:http'
import { type Accounts, checkCaller, type Identified, identify, stillAllowed } from '../caller.ts'
import { notLoggedIn } from '../platform-error.ts'
import type { PlatformWorld } from '../world.ts'

/** A namespace; one of the same name that is made later is another. */
export interface NamespaceId {
  readonly name: string
  readonly uid: string
}

/**
 * Who shows a login to the registry: somebody with a token of the platform; somebody who works for one namespace with a
 * login that was made for it; or the Pods of a namespace.
 */
export type RegistryCaller =
  | { readonly kind: 'person'; readonly by: Identified }
  | { readonly kind: 'worker'; readonly by: Identified; readonly namespace: NamespaceId }
  | { readonly kind: 'pods'; readonly namespace: NamespaceId; readonly made: number; readonly pullLogins?: string }

/** What a login says, sealed: nothing of it is kept by the platform. */
interface Login {
  readonly namespace: NamespaceId
  /** Absent: of the Pods of the namespace. */
  readonly by?: { readonly user: string; readonly token: string }
  /** Of Pods: what their namespace says of such logins when it is made. */
  readonly pullLogins?: string
  /** Milliseconds since 1970; of Pods. */
  readonly made?: number
  /** Milliseconds since 1970. */
  readonly ends: number
}

/** What logins begin with, so that scanners know them. */
const FORM = /^devctl_registry_(v1\.k\d+\.[\w-]+)$/
const SEALED_FOR = 'login of the registry'

/** A password for the registry that is good for one namespace. */
export const registryPassword = ({ sealing }: Pick<PlatformWorld, 'sealing'>, login: Login): string =>
  `devctl_registry_${sealing.seal(JSON.stringify(login), SEALED_FOR)}`

/**
 * Who asks for a token of the registry: by name and password, as registries' clients do (the name means nothing), or
 * as everywhere. Throws a PlatformError when that is nobody.
 */
export async function registryCaller(
  { authorization = '' }: IncomingHttpHeaders,
  world: PlatformWorld,
  parts: Accounts,
): Promise<RegistryCaller> {
  const text = passwordIn(authorization)
  if (text === undefined || text.startsWith('devctl_session_')) throw notLoggedIn()
  const [, sealed] = FORM.exec(text) ?? []
  if (sealed !== undefined) return holderOf(sealed, world, parts)
  const by = await identify(text, parts, world.now())
  checkCaller(by, { caller: 'user', isForRuns: true })
  return { kind: 'person', by }
}

async function holderOf(sealed: string, world: PlatformWorld, parts: Accounts): Promise<RegistryCaller> {
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

/** `Basic …` with any name, or `Bearer …`. */
function passwordIn(header: string): string | undefined {
  const [, scheme = '', value = ''] = /^(Basic|Bearer) ([\w.~+/=-]{1,4096})$/i.exec(header) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  const text = Buffer.from(value, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : text.slice(colon + 1)
}
