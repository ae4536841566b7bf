import type { authRoutes } from '../../api/auth.ts'
import type { Granted } from '../../api/common.ts'
import type { TokenRecord } from '../../records/token.ts'
import type { PlatformUser } from '../../records/user.ts'
import { userId } from '../../rules/names.ts'
import type { ServerContext } from '../context.ts'
import type { Services } from '../create-services.ts'
import { toGranted, toMe } from '../http/answers.ts'
import { requireActive, requireUnsuspended } from '../http/caller.ts'
import { notLoggedIn, PlatformError } from '../http/platform-error.ts'
import { LINK_ISSUER, type ProvenIdentity } from '../login/users.ts'
import type { AuditNote, HandlersOf } from './handler.ts'

type Note = (more: AuditNote) => void

/** Polling interval of a device login, in seconds. */
const POLL = 2

export function authHandlers(
  { settings, now }: Pick<ServerContext, 'settings' | 'now'>,
  { users, tokens, personal, logins, ci }: Pick<Services, 'users' | 'tokens' | 'personal' | 'logins' | 'ci'>,
): HandlersOf<typeof authRoutes> {
  /** Completes a login. Creates the personal namespace of the user at the first login. */
  const welcome = async (identity: ProvenIdentity, role?: 'admin'): Promise<PlatformUser> =>
    personal.ensure(await users.loggedIn(identity, role))

  const enterAs = async (id: string, label: string, note: Note): Promise<Granted> => {
    const user = await users.find(id)
    if (!user) throw notLoggedIn()
    requireActive(user, 'cli', now())
    const issued = await tokens.issue({ kind: 'cli', label, user: user.id })
    note({ who: { user: user.id, token: issued.record.id }, what: { label } })
    return toGranted(issued, user)
  }

  /** Throws a PlatformError if the platform has an administrator: a setup link is for the first one. */
  const requireFirst = async (link: TokenRecord): Promise<void> => {
    if (!(await users.all()).some(({ role }) => role === 'admin')) return
    await tokens.revoke(link.id)
    throw usedLink()
  }

  return {
    'POST /auth/setup': async ({ body, browser, note }) => {
      const { label } = body
      // Otherwise, a page of another site could log a user in to another user's account.
      if (label === undefined) browser.requireOurPage()
      const token = await tokens.check(body.token)
      const isSetup = token?.kind === 'setup'
      if (!token || (!isSetup && token.kind !== 'invite')) throw usedLink()
      if (isSetup) await requireFirst(token)
      // An invitation determines the user name. With the setup link, the person who installed the platform chooses it.
      const login = isSetup ? body.login : token.label
      const identity = { issuer: LINK_ISSUER, subject: login, login }
      // A suspended user keeps the link, because it is valid again when an administrator admits the user.
      const known = await users.find(userId(LINK_ISSUER, login))
      if (known) requireUnsuspended(known)
      if (!(await tokens.revoke(token.id))) throw usedLink()
      const user = await welcome(identity, isSetup ? 'admin' : undefined)
      if (label !== undefined) return enterAs(user.id, label, note)
      const { text, record } = await tokens.issue({ kind: 'session', label: 'browser', user: user.id })
      note({ who: { user: user.id, token: record.id } })
      browser.enter(text)
      return { login: user.login, expires: record.expires }
    },
    // The caller, who has logged in with a provider, uses the setup link to become administrator.
    'POST /auth/claim': async ({ body, by }) => {
      const token = await tokens.check(body.token)
      if (token?.kind !== 'setup') throw usedLink()
      await requireFirst(token)
      if (!(await tokens.revoke(token.id))) throw usedLink()
      return toMe(await users.change(by.user.id, { role: 'admin' }))
    },
    'POST /auth/ci': async ({ body, note }) => {
      const { issued, user } = await ci.exchange(body.jwt)
      const { login } = user
      note({ who: { user: user.id, token: issued.record.id }, what: { login } })
      return { token: issued.text, expires: issued.record.expires, login }
    },
    'POST /auth/cli/code': async ({ body, by, note }) => {
      note({ what: { label: body.label } })
      return { code: await logins.allow(by.user.id, body.challenge, body.label) }
    },
    'POST /auth/cli': async ({ body, note }) => {
      const { user, label } = await logins.exchange(body.code, body.verifier)
      return enterAs(user, label, note)
    },
    'POST /auth/device': async ({ body, note }) => {
      note({ what: { label: body.label } })
      return { ...(await logins.ask(body.label)), page: `${settings.url}/device`, interval: POLL }
    },
    'POST /auth/device/poll': async ({ body, note }) => {
      const found = await logins.poll(body.device)
      if (found) return enterAs(found.user, found.label, note)
      note({ isNothing: true })
      return { isPending: true }
    },
    'POST /auth/device/look': async ({ body }) => {
      const { device } = await logins.look(body.code)
      return { label: device.label, created: device.created }
    },
    'POST /auth/device/answer': async ({ body, by, note }) => {
      const asked = await logins.look(body.code)
      note({ what: { label: asked.device.label, answer: body.isAllowed ? 'allowed' : 'refused' } })
      await logins.answer(asked, by.user.id, body.isAllowed)
      return undefined
    },
    'POST /auth/logout': async ({ by, browser }) => {
      await tokens.revoke(by.token.id)
      if (by.token.kind === 'session') browser.leave()
      return undefined
    },
  }
}

const usedLink = () =>
  new PlatformError(401, 'link', 'this link was already used, or has expired', {
    hint: '`devctl platform invite NAME` creates another one',
  })
