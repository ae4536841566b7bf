import Type, { type Static, type TSchema } from 'typebox'
import * as shapes from './shapes.ts'

/**
 * Who may call a route. `nobody`: no login is needed; `user`: any token of a person; `person`: a person
 * themselves, by browser or command line, not a token for programs; `admin`: an administrator.
 */
export type Caller = 'nobody' | 'user' | 'person' | 'admin'

/** One way in: what is sent, what comes back, who may call, and the word that the audit writes for it. */
export interface ApiRoute {
  readonly caller: Caller
  readonly params?: TSchema
  readonly query?: TSchema
  readonly body?: TSchema
  /** Absent: 204 without a body. */
  readonly reply?: TSchema
  /** Of requests that change something. */
  readonly audit?: string
  /** The reply has a credential in it. No other reply may. */
  readonly isSecret?: true
}

const route = <const R extends ApiRoute>(one: R): R => one
const listOf = <T extends TSchema>(item: T) => Type.Object({ items: Type.Array(item) })

/**
 * Every route below `/api/v1`: the server registers this table, the client is typed by it, and the
 * OpenAPI document is printed from it (design, section 10). It only grows.
 */
export const ROUTES = {
  'GET /info': route({ caller: 'nobody', reply: shapes.info }),

  'POST /auth/setup': route({
    caller: 'nobody',
    body: shapes.setup,
    reply: shapes.granted,
    audit: 'setup',
    isSecret: true,
  }),
  'POST /auth/cli': route({
    caller: 'nobody',
    body: shapes.codeExchange,
    reply: shapes.granted,
    audit: 'login',
    isSecret: true,
  }),
  'POST /auth/cli/code': route({
    caller: 'person',
    body: shapes.challenge,
    reply: shapes.code,
    audit: 'allow command line',
    isSecret: true,
  }),
  'POST /auth/device': route({ caller: 'nobody', body: shapes.deviceRequest, reply: shapes.device, isSecret: true }),
  'POST /auth/device/poll': route({
    caller: 'nobody',
    body: shapes.devicePoll,
    reply: Type.Union([shapes.granted, Type.Object({ isPending: Type.Literal(true) })]),
    isSecret: true,
  }),
  'POST /auth/device/look': route({ caller: 'person', body: shapes.typedCode, reply: shapes.deviceLook }),
  'POST /auth/device/answer': route({ caller: 'person', body: shapes.deviceAnswer, audit: 'answer device' }),
  'POST /auth/logout': route({ caller: 'user', audit: 'logout' }),

  'GET /me': route({ caller: 'user', reply: shapes.me }),
  'GET /me/tokens': route({ caller: 'user', reply: listOf(shapes.tokenInfo) }),
  'POST /me/tokens': route({
    caller: 'person',
    body: shapes.newToken,
    reply: shapes.granted,
    audit: 'create token',
    isSecret: true,
  }),
  'DELETE /me/tokens/:id': route({ caller: 'person', params: shapes.byToken, audit: 'delete token' }),
  'POST /kube-token': route({ caller: 'user', reply: shapes.kubeToken, isSecret: true }),

  'GET /namespaces': route({ caller: 'user', reply: listOf(shapes.namespace) }),
  'POST /namespaces': route({
    caller: 'user',
    body: shapes.newNamespace,
    reply: shapes.namespace,
    audit: 'create namespace',
  }),
  'GET /namespaces/:ns': route({ caller: 'user', params: shapes.byNamespace, reply: shapes.namespaceDetails }),
  'PATCH /namespaces/:ns': route({
    caller: 'user',
    params: shapes.byNamespace,
    body: shapes.namespaceChange,
    reply: shapes.namespaceDetails,
    audit: 'change namespace',
  }),
  'DELETE /namespaces/:ns': route({ caller: 'user', params: shapes.byNamespace, audit: 'delete namespace' }),
  'PUT /namespaces/:ns/members/:user': route({
    caller: 'user',
    params: shapes.byMember,
    body: shapes.newMember,
    reply: shapes.namespaceDetails,
    audit: 'share namespace',
  }),
  'DELETE /namespaces/:ns/members/:user': route({
    caller: 'user',
    params: shapes.byMember,
    audit: 'unshare namespace',
  }),

  'GET /users': route({ caller: 'user', reply: listOf(shapes.person) }),
  'GET /admin/users': route({ caller: 'admin', reply: listOf(shapes.user) }),
  'PATCH /admin/users/:user': route({
    caller: 'admin',
    params: shapes.byUser,
    body: shapes.userChange,
    reply: shapes.user,
    audit: 'change user',
  }),
} as const satisfies Readonly<Record<string, ApiRoute>>

export type Routes = typeof ROUTES
export type RouteName = keyof Routes

type Shape<R, K extends string> = R extends { readonly [P in K]: infer S extends TSchema } ? Static<S> : undefined

export type ParamsOf<N extends RouteName> = Shape<Routes[N], 'params'>
export type BodyOf<N extends RouteName> = Shape<Routes[N], 'body'>
export type ReplyOf<N extends RouteName> = Shape<Routes[N], 'reply'>
