import type { Static, TSchema } from 'typebox'
import { adminRoutes } from './admin.ts'
import { analyticsRoutes } from './analytics.ts'
import { authRoutes } from './auth.ts'
import { builderRoutes } from './builders.ts'
import { credentialRoutes } from './credentials.ts'
import { environmentRoutes } from './environments.ts'
import { hookRoutes } from './hooks.ts'
import { infoRoutes } from './info.ts'
import { meRoutes } from './me.ts'
import { namespaceRoutes } from './namespaces.ts'
import { previewRoutes } from './previews.ts'
import { registryRoutes } from './registry.ts'
import type { ApiRoute } from './route.ts'
import { runRoutes } from './runs.ts'
import { searchRoutes } from './search.ts'
import { sleepRoutes } from './sleep.ts'
import { userRoutes } from './users.ts'
import { variableRoutes } from './variables.ts'

/**
 * All routes below `/api/v1`. The server registers this table, the client derives its types from it, and the OpenAPI
 * document is generated from it (design, section 10). Routes are only ever added.
 */
export const ROUTES = {
  ...infoRoutes,
  ...authRoutes,
  ...meRoutes,
  ...namespaceRoutes,
  ...environmentRoutes,
  ...sleepRoutes,
  ...builderRoutes,
  ...runRoutes,
  ...searchRoutes,
  ...previewRoutes,
  ...hookRoutes,
  ...userRoutes,
  ...variableRoutes,
  ...credentialRoutes,
  ...adminRoutes,
  ...analyticsRoutes,
  ...registryRoutes,
} as const satisfies Readonly<Record<string, ApiRoute>>

export type Routes = typeof ROUTES
export type RouteName = keyof Routes

type Shape<R, K extends string> = R extends { readonly [P in K]: infer S extends TSchema } ? Static<S> : undefined

export type ParamsOf<N extends RouteName> = Shape<Routes[N], 'params'>
export type QueryOf<N extends RouteName> = Shape<Routes[N], 'query'>
export type BodyOf<N extends RouteName> = Shape<Routes[N], 'body'>
export type ReplyOf<N extends RouteName> = Shape<Routes[N], 'reply'>
/** Type of the data of one event in a route's stream; `undefined` for routes without a stream. */
export type EventOf<N extends RouteName> = Shape<Routes[N], 'events'>
/** Names of the routes that upgrade the connection. */
export type UpgradeName = { readonly [N in RouteName]: Routes[N] extends { isUpgrade: true } ? N : never }[RouteName]
/** Names of the routes that respond with a stream of events. */
export type StreamName = { readonly [N in RouteName]: Routes[N] extends { events: TSchema } ? N : never }[RouteName]
