import type { FastifyInstance, FastifyReply } from 'fastify'
import { rfc3339 } from '../../records/names.ts'
import type { TokenRecord } from '../../records/token.ts'
import type { PlatformUser } from '../../records/user.ts'
import type { LoginProblem } from '../../rules/accounts/login-problems.ts'
import { returnPath } from '../../rules/accounts/provider.ts'
import type { ServerContext } from '../context.ts'
import { browserOf, loginCookie, loginOf } from '../http/browser.ts'
import type { Accounts } from '../http/caller.ts'
import { PlatformError } from '../http/platform-error.ts'
import type { PersonalNamespaces } from '../namespaces/personal-namespaces.ts'
import { saveRefreshToken } from './account-checks.ts'
import type { LoginLimits } from './login-limits.ts'
import { type IdentityProvider, LoginError, type LoginFlow, type ProvenLogin } from './providers/provider.ts'

/** Time limit for the user to log in at the provider, in milliseconds. */
const TYPING = 600_000
const SEALED_FOR = 'login'

/** State that the browser stores while its user is at the provider. */
interface Kept extends LoginFlow {
  readonly provider: string
  readonly to: string
  /** Time at which the login expires, in milliseconds since 1970. */
  readonly until: number
}

/** Services that record a login. */
interface Parts extends Accounts {
  readonly personal: PersonalNamespaces
}

/**
 * Registers the routes for logging in with a provider in a browser. `/login/ID` redirects to the provider, which
 * redirects back to `/login/ID/callback`. Browsers open both, so errors are shown on the page `/login?problem=…`. The
 * state of a login is in a sealed cookie, so any replica can complete the login.
 */
export function registerBrowserLogin(
  app: FastifyInstance,
  world: ServerContext,
  parts: Parts & { readonly providers: ReadonlyMap<string, IdentityProvider> },
  limits: LoginLimits,
): void {
  const { settings, sealing, now, random } = world
  const { providers } = parts

  app.get<Named>('/login/:provider', async (request, reply) =>
    answer(reply, request.params.provider, async provider => {
      const { to } = request.query as { readonly to?: unknown }
      const text = () => random(32).toString('base64url')
      const flow = { state: text(), nonce: text(), verifier: text() }
      const address = await provider.begin(flow)
      const kept: Kept = { ...flow, provider: provider.id, to: returnPath(to), until: now() + TYPING }
      setCookie(reply, loginCookie(sealing.seal(JSON.stringify(kept), SEALED_FOR), TYPING / 1000))
      return address.href
    }),
  )

  app.get<Named>('/login/:provider/callback', async (request, reply) =>
    answer(reply, request.params.provider, async provider => {
      const text = loginOf(request.headers)
      // The cookie is valid for one callback, so it is deleted.
      setCookie(reply, loginCookie('', 0))
      const opened = text && sealing.open(text, SEALED_FOR)
      const kept = opened ? (JSON.parse(opened) as Kept) : undefined // we have sealed it
      if (!kept || kept.provider !== provider.id || kept.until < now())
        throw new LoginError('expired', 'no login is in progress in this browser')
      const { search } = new URL(request.url, settings.url)
      const proven = await provider.finish(new URL(`/login/${provider.id}/callback${search}`, settings.url), kept)
      limits.right('/login', request)
      const { user, session, record } = await completeLogin(world, parts, provider.id, proven)
      browserOf(request.headers, settings.url, value => setCookie(reply, value)).enter(session)
      const what = { provider: provider.id }
      world.audit({ time: rfc3339(now()), action: 'login', user: user.id, token: record.id, what, status: 200 })
      return kept.to
    }),
  )

  async function answer(
    reply: FastifyReply,
    id: string,
    work: (provider: IdentityProvider) => Promise<string>,
  ): Promise<FastifyReply> {
    const provider = providers.get(id)
    if (!provider) throw new PlatformError(404, 'no-provider', 'this login provider does not exist')
    // The callback URL contains a code, so it must not be cached or sent as a referrer.
    reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer')
    try {
      limits.attempt('/login', reply.request)
      return reply.redirect(await work(provider), 303)
    } catch (error) {
      const isTooMany = error instanceof PlatformError && error.status === 429
      const problem: LoginProblem = isTooMany ? 'too-many' : error instanceof LoginError ? error.problem : 'failed'
      const text = `login by ${id}: ${problem}: ${error instanceof Error ? error.message : String(error)}`
      world.log({ time: rfc3339(now()), text })
      return reply.redirect(`/login?problem=${problem}`, 303)
    }
  }
}

/** Records a login with a provider, and creates a session. Throws a LoginError if the user may not log in. */
export async function completeLogin(
  world: ServerContext,
  { users, personal, tokens }: Parts,
  provider: string,
  proven: ProvenLogin,
): Promise<{ readonly user: PlatformUser; readonly session: string; readonly record: TokenRecord }> {
  await saveRefreshToken(world, provider, proven)
  const user = await users.loggedIn(proven.identity)
  if (user.isSuspended) throw new LoginError('suspended', `\`${user.login}\` is suspended`)
  await personal.ensure(user)
  const { text: session, record } = await tokens.issue({ kind: 'session', label: 'browser', user: user.id })
  return { user, session, record }
}

interface Named {
  readonly Params: { readonly provider: string }
}

/** Adds a cookie to the cookies that the response already sets. */
function setCookie(reply: FastifyReply, value: string): void {
  const before = reply.getHeader('set-cookie')
  const all = before === undefined ? [] : Array.isArray(before) ? before : [String(before)]
  // The new value replaces an earlier value of the same cookie.
  const [name] = value.split('=')
  reply.header('set-cookie', undefined)
  reply.removeHeader('set-cookie')
  reply.header('set-cookie', [...all.filter(one => !one.startsWith(`${name}=`)), value])
}
