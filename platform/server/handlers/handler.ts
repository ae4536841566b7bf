import type { Socket } from 'node:net'
import type { TSchema } from 'typebox'
import type { BodyOf, EventOf, ParamsOf, QueryOf, ReplyOf, RouteName, Routes } from '../../api/routes.ts'
import type { SentHook } from '../../rules/previews/webhook-signature.ts'
import type { Browser } from '../http/browser.ts'
import type { Identified } from '../http/caller.ts'
import type { RegistryCaller } from '../registry/registry-logins.ts'

/** Details of a request for the audit log, in addition to its caller and path. They contain no secret. */
export interface AuditNote {
  /** Ids of the user who logged in, and of the token that was issued. */
  readonly who?: { readonly user: string; readonly token?: string }
  readonly what?: Readonly<Record<string, string>>
  /** True if the request changed nothing, so it is not audited. */
  readonly isNothing?: true
}

/** A validated request, as its handler receives it. */
export interface Call<N extends RouteName> {
  readonly params: ParamsOf<N>
  readonly query: QueryOf<N>
  readonly body: BodyOf<N>
  /** The raw body, for a route that accepts bytes; empty for other routes. */
  readonly raw: SentHook
  readonly by: Routes[N]['caller'] extends 'nobody' | 'registry' ? undefined : Identified
  /** The authenticated registry client; undefined for routes that other callers use. */
  readonly puller: Routes[N]['caller'] extends 'registry' ? RegistryCaller : undefined
  /** Id of the last event that the client received before it resumed a stream; undefined for a new stream. */
  readonly after: string | undefined
  readonly note: (more: AuditNote) => void
  /** Reads and writes the session cookie of the browser. */
  readonly browser: Browser
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** An event of a stream. A client can resume the stream after an event that has an id. */
export interface StreamEvent<T> {
  readonly id?: string
  readonly data: T
}

/** A function that serves an upgraded connection. */
export type ServeConnection = (connection: Socket) => void

/**
 * The result of a handler: a response body, the events of a stream, or a function that serves the connection. An error
 * that is thrown before the first event becomes the response.
 */
export type Answer<N extends RouteName> = Routes[N] extends { readonly events: TSchema }
  ? AsyncIterable<StreamEvent<EventOf<N>>>
  : Routes[N] extends { readonly isUpgrade: true }
    ? ServeConnection
    : ReplyOf<N>

export type RouteHandler<N extends RouteName> = (call: Call<N>) => Promise<Answer<N>>

/** The handlers of all routes. */
export type Handlers = { readonly [N in RouteName]: RouteHandler<N> }
/** The handlers of one part of the route table. */
export type HandlersOf<Table> = Pick<Handlers, keyof Table & RouteName>

/** Returns the values of a body as text, for the audit log. Use it only for routes whose bodies contain no secret. */
export const wordsOf = (
  body: Readonly<Record<string, string | boolean | undefined>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(body).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
  )
