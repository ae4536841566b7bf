import type { authRoutes } from '../../api/auth.ts'
import type { Granted } from '../../api/common.ts'
import { toGranted } from '../answers.ts'
import type { PlatformParts } from '../make-parts.ts'
import { notLoggedIn, PlatformError } from '../platform-error.ts'
import type { ProvenIdentity } from '../users.ts'
import type { PlatformWorld } from '../world.ts'
import type { HandlersOf } from './handler.ts'

/** Seconds between two polls of a login by code. */
const POLL = 2
/** The issuer of people who came by a link and have no provider. */
const LINK_ISSUER = 'devctl'

export function authHandlers(
  { settings }: PlatformWorld,
  { users, tokens, namespaces, logins }: PlatformParts,
): HandlersOf<typeof authRoutes> {
  /** Somebody has shown who they are: gives them a token, and at the first time a namespace of their own. */
  const enter = async (
    identity: ProvenIdentity,
    kind: 'session' | 'cli',
    label: string,
    role?: 'admin',
  ): Promise<Granted> => {
    const user = await namespaces.home(await users.loggedIn(identity, role))
    return toGranted(await tokens.issue({ kind, label, user: user.id }), user)
  }

  const enterAs = async (id: string, label: string): Promise<Granted> => {
    const user = await users.find(id)
    if (!user || user.isSuspended) throw notLoggedIn()
    return toGranted(await tokens.issue({ kind: 'cli', label, user: user.id }), user)
  }

  return {
    'POST /auth/setup': async ({ body }) => {
      const token = await tokens.check(body.token)
      const isSetup = token?.kind === 'setup'
      if (!token || (!isSetup && token.kind !== 'invite')) throw usedLink()
      // An invitation is for one name; the setup link is for whoever the installer is.
      const login = isSetup ? body.login : token.label
      if (!(await tokens.revoke(token.id))) throw usedLink()
      const identity = { issuer: LINK_ISSUER, subject: login, login }
      const { label } = body
      const role = isSetup ? 'admin' : undefined
      return label === undefined ? enter(identity, 'session', 'browser', role) : enter(identity, 'cli', label, role)
    },
    'POST /auth/cli/code': async ({ body, by }) => ({
      code: await logins.allow(by.user.id, body.challenge, body.label),
    }),
    'POST /auth/cli': async ({ body }) => {
      const { user, label } = await logins.exchange(body.code, body.verifier)
      return enterAs(user, label)
    },
    'POST /auth/device': async ({ body }) => ({
      ...(await logins.ask(body.label)),
      page: `${settings.url}/device`,
      interval: POLL,
    }),
    'POST /auth/device/poll': async ({ body }) => {
      const found = await logins.poll(body.device)
      return found ? enterAs(found.user, found.label) : { isPending: true }
    },
    'POST /auth/device/look': async ({ body }) => {
      const { device } = await logins.look(body.code)
      return { label: device.label, created: device.created }
    },
    'POST /auth/device/answer': async ({ body, by }) => {
      await logins.answer(await logins.look(body.code), by.user.id, body.isAllowed)
      return undefined
    },
    'POST /auth/logout': async ({ by }) => {
      await tokens.revoke(by.token.id)
      return undefined
    },
  }
}

const usedLink = () =>
  new PlatformError(401, 'link', 'this link was used already, or has run out', {
    hint: '`devctl platform invite NAME` makes another one',
  })
