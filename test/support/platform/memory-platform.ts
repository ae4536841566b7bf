import { randomBytes } from 'node:crypto'
import type { ErrorBody } from '../../../platform/api/common.ts'
import type { BodyOf, ReplyOf, RouteName } from '../../../platform/api/routes.ts'
import { PLATFORM_NAMESPACE, USERS_NAMESPACE } from '../../../platform/records/names.ts'
import type { PlatformUser } from '../../../platform/records/user.ts'
import type { TokenKind } from '../../../platform/rules/accounts/token.ts'
import type { AuditLine, ServerContext, ServerLogLine, Settings } from '../../../platform/server/context.ts'
import { createServices } from '../../../platform/server/create-services.ts'
import { createApp } from '../../../platform/server/http/app.ts'
import { sealingWith } from '../../../platform/server/leader/sealed.ts'
import { MemoryCluster } from '../memory-cluster/memory-cluster.ts'

const OURS = 'https://platform.dev.example.com'
const SETTINGS = {
  domain: 'dev.example.com',
  url: OURS,
  kubernetes: { server: 'https://k.example.com' },
  namespacesPerUser: 3,
  previewsPerUser: 3,
  providers: [],
  clusterNetworks: [],
  privateNetworks: [],
  ci: [],
  forges: [],
  trustedProxies: [],
}

const OF_NAMESPACES = { namespaced: true, hasStatus: false }
/** Kinds of the objects that each namespace has; a cluster in memory does not know them by itself. */
const KINDS = [
  { apiVersion: 'v1', kind: 'LimitRange', name: 'limitranges', ...OF_NAMESPACES },
  { apiVersion: 'v1', kind: 'ResourceQuota', name: 'resourcequotas', ...OF_NAMESPACES },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name: 'networkpolicies', ...OF_NAMESPACES },
]

/** A platform in this process, before a cluster in memory. */
export function memoryPlatform(settings: Partial<Settings> = {}) {
  const cluster = new MemoryCluster({ namespaces: [PLATFORM_NAMESPACE, USERS_NAMESPACE] })
  for (const kind of KINDS) cluster.register(kind)
  const clock = { later: 0 }
  const [audit, log]: [AuditLine[], string[]] = [[], []]
  // The cluster in memory checks no rights.
  const world = {
    cluster,
    clusterAs: () => cluster,
    version: '0.1.0',
    sealing: sealingWith({ read: () => new Map([[1, Buffer.alloc(32, 1)]]), now: Date.now }),
    settings: { ...SETTINGS, ...settings },
    clientSecret: () => 'client-secret-0123456789',
    now: () => Date.now() + clock.later,
    random: randomBytes,
    audit: (line: AuditLine) => void audit.push(line),
    log: ({ text }: ServerLogLine) => void log.push(text),
  } as unknown as ServerContext
  const parts = createServices(world)
  const app = createApp(world, parts)
  return {
    cluster,
    world,
    parts,
    clock,
    audit,
    log,
    /** Records a login with a provider. */
    person: (login: string): Promise<PlatformUser> =>
      parts.users.loggedIn({ issuer: 'https://issuer.example.com', subject: login, login }),
    /** Creates a token of a user; returns its text. */
    tokenOf: async ({ id }: PlatformUser, kind: TokenKind, more: object = {}): Promise<string> =>
      (await parts.tokens.issue({ kind, label: 'a test', user: id, ...more })).text,
    /** Sends a request, with a token or as a page of the platform. */
    async call<N extends RouteName>(name: N, { token, body }: { readonly token?: string; readonly body?: BodyOf<N> }) {
      const [method = '', path = ''] = name.split(' ')
      const headers = token === undefined ? { origin: OURS, 'sec-fetch-site': 'same-origin' } : bearer(token)
      const payload = body === undefined ? {} : { payload: body as object }
      const answer = await app.inject({ method: method as 'GET', url: `/api/v1${path}`, headers, ...payload })
      const value = answer.body === '' ? undefined : JSON.parse(answer.body)
      return { status: answer.statusCode, body: value as ReplyOf<N>, error: value as ErrorBody }
    },
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
