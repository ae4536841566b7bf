import { ClusterError } from '../../adapters/kubernetes/cluster.ts'
import type { Granted } from '../api/shapes.ts'
import { tokenSecret, USERS_NAMESPACE, userAccount } from '../records/names.ts'
import type { IssuedToken } from '../records/token.ts'
import type { PlatformUser } from '../records/user.ts'
import { toDetails, toMe, toNamespaceAnswer, toPerson, toShownUser, toTokenInfo } from './answers.ts'
import type { Handlers } from './handlers.ts'
import { Logins } from './logins.ts'
import { Namespaces, type SharedNamespace } from './namespaces.ts'
import { notAllowed, notLoggedIn, PlatformError } from './platform-error.ts'
import { Tokens } from './tokens.ts'
import { type ProvenIdentity, Users } from './users.ts'
import type { PlatformWorld } from './world.ts'

const DAY = 86_400_000
/** Seconds that a token of Kubernetes lives; it is bound to the token that it was asked with. */
const KUBE_TOKEN_LIFE = 3600
/** Seconds between two polls of a login by code. */
const POLL = 2
/** The issuer of people who came by a link and have no provider. */
const LINK_ISSUER = 'devctl'

/** The parts of the server that answer requests. */
export interface PlatformParts {
  readonly users: Users
  readonly tokens: Tokens
  readonly namespaces: Namespaces
  readonly logins: Logins
}

export function makeParts(world: PlatformWorld): PlatformParts {
  const users = new Users(world)
  return { users, tokens: new Tokens(world), namespaces: new Namespaces(world, users), logins: new Logins(world) }
}

/** One handler for each route of the table. */
export function makeHandlers(world: PlatformWorld, { users, tokens, namespaces, logins }: PlatformParts): Handlers {
  const { settings, version, cluster } = world

  /** Somebody has shown who they are: gives them a token, and at the first time a namespace of their own. */
  const enter = async (
    identity: ProvenIdentity,
    kind: 'session' | 'cli',
    label: string,
    role?: 'admin',
  ): Promise<Granted> => {
    const user = await namespaces.home(await users.loggedIn(identity, role))
    return granted(await tokens.issue({ kind, label, user: user.id }), user)
  }

  const enterAs = async (id: string, label: string): Promise<Granted> => {
    const user = await users.find(id)
    if (!user || user.isSuspended) throw notLoggedIn()
    return granted(await tokens.issue({ kind: 'cli', label, user: user.id }), user)
  }

  const people = async () => new Map((await users.all()).map(user => [user.id, user]))
  const details = async (user: PlatformUser, name: string) => {
    const shared = await namespaces.require(user, name, 'see', 'this')
    return toDetails(shared, await people(), namespaces.roleOf(user, shared))
  }
  const knownUser = async (id: string): Promise<PlatformUser> => {
    const user = await users.find(id)
    if (!user) throw new PlatformError(404, 'no-user', 'this user does not exist')
    return user
  }

  return {
    'GET /info': async () => ({
      version,
      minCli: version,
      domain: settings.domain,
      login: [],
      kubernetes: settings.kubernetes,
    }),

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

    'GET /me': async ({ by }) => toMe(by.user),
    'GET /me/tokens': async ({ by }) => ({
      items: (await tokens.of(by.user.id)).map(one => toTokenInfo(one, by.token.id)),
    }),
    'POST /me/tokens': async ({ body, by }) => {
      const { label, days = 90 } = body
      return granted(await tokens.issue({ kind: 'api', label, user: by.user.id, lifetime: days * DAY }), by.user)
    },
    'DELETE /me/tokens/:id': async ({ params, by }) => {
      const token = await tokens.find(params.id)
      if (token?.user !== by.user.id) throw new PlatformError(404, 'no-token', 'you have no such token')
      await tokens.revoke(params.id)
      return undefined
    },
    'POST /kube-token': async ({ by }) => {
      // Without a uid, it is bound to the Secret that has this name now: names of tokens are random.
      const bound = { apiVersion: 'v1', kind: 'Secret', name: tokenSecret(by.token.id) }
      const account = {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        name: userAccount(by.user.id),
        namespace: USERS_NAMESPACE,
      }
      const made = await cluster
        .createIn(account, 'token', {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { expirationSeconds: KUBE_TOKEN_LIFE, boundObjectRef: bound },
        })
        .catch(error => {
          // It was deleted a moment ago.
          throw error instanceof ClusterError && error.failure === 'not-found' ? notLoggedIn() : error
        })
      const status = made['status'] as { readonly token: string; readonly expirationTimestamp: string } // a TokenRequest's
      return { token: status.token, expires: status.expirationTimestamp }
    },

    'GET /namespaces': async ({ by }) => {
      const [found, all] = await Promise.all([namespaces.visible(by.user), people()])
      const items = found.map(one => toNamespaceAnswer(one, all, namespaces.roleOf(by.user, one)))
      return { items: items.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    },
    'POST /namespaces': async ({ body, by }) => {
      const made = await namespaces.create(by.user, body.name, 'namespace')
      return toNamespaceAnswer(made, new Map([[by.user.id, by.user]]), 'owner')
    },
    'GET /namespaces/:ns': async ({ params, by }) => details(by.user, params.ns),
    'PATCH /namespaces/:ns': async ({ params, body, by }) => {
      const shared = await namespaces.require(by.user, params.ns, 'share', 'to change it')
      if (body.owner !== undefined) {
        if (by.user.role !== 'admin') throw notAllowed('to transfer a namespace', 'an administrator')
        await namespaces.transfer(shared, await knownUser(body.owner))
      }
      if (body.isPersistent !== undefined) await namespaces.setPersistent(shared, body.isPersistent)
      return details(by.user, params.ns)
    },
    'DELETE /namespaces/:ns': async ({ params, by }) => {
      await namespaces.delete(await namespaces.require(by.user, params.ns, 'delete', 'to delete it'))
      return undefined
    },
    'PUT /namespaces/:ns/members/:user': async ({ params, body, by }) => {
      const shared: SharedNamespace = await namespaces.require(by.user, params.ns, 'share', 'to share it')
      await namespaces.share(shared, await knownUser(params.user), body.role)
      return details(by.user, params.ns)
    },
    'DELETE /namespaces/:ns/members/:user': async ({ params, by }) => {
      await namespaces.unshare(await namespaces.require(by.user, params.ns, 'share', 'to share it'), params.user)
      return undefined
    },

    'GET /users': async () => ({ items: (await users.all()).map(toPerson) }),
    'GET /admin/users': async () => ({ items: (await users.all()).map(toShownUser) }),
    'PATCH /admin/users/:user': async ({ params, body, by }) => {
      const user = await knownUser(params.user)
      if (user.id === by.user.id) throw new PlatformError(409, 'self', 'you cannot change your own role')
      const saved = await users.save({ ...user, ...body })
      if (saved.isSuspended) await tokens.revokeAll(user.id)
      return toShownUser(saved)
    },
  }
}

const granted = ({ text, record }: IssuedToken, { login }: PlatformUser): Granted => ({
  token: text,
  expires: record.expires,
  login,
})

const usedLink = () =>
  new PlatformError(401, 'link', 'this link was used already, or has run out', {
    hint: '`devctl platform invite NAME` makes another one',
  })
