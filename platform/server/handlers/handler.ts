import type { Socket } from 'node:net'
import type { TSchema } from 'typebox'
import type { BodyOf, EventOf, ParamsOf, QueryOf, ReplyOf, RouteName, Routes } from '../../api/routes.ts'
import type { SentHook } from '../../rules/webhook-signature.ts'
import type { Browser } from '../browser.ts'
import type { Identified } from '../caller.ts'
import type { RegistryCaller } from '../registry/registry-logins.ts'

/** What the audit is to say of a request, besides its caller and its path; no secret is in it. */
export interface AuditNote {
  /** Of a login: who it was, and the token that they got. */
  readonly who?: { readonly user: string; readonly token?: string }
  readonly what?: Readonly<Record<string, string>>
  /** It has changed nothing, so there is no line. */
  readonly isNothing?: true
}

/** A checked request. */
export interface Call<N extends RouteName> {
  readonly params: ParamsOf<N>
  readonly query: QueryOf<N>
  readonly body: BodyOf<N>
  /** Of a route that takes bytes; of others nothing. */
  readonly raw: SentHook
  readonly by: Routes[N]['caller'] extends 'nobody' | 'registry' ? undefined : Identified
  /** Of a registry's client. */
  readonly puller: Routes[N]['caller'] extends 'registry' ? RegistryCaller : undefined
  /** Of a stream that goes on: the id of the last event that the client has. */
  readonly after: string | undefined
  readonly note: (more: AuditNote) => void
  /** Where the session of a browser is given and taken. */
  readonly browser: Browser
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
}

/** One event of a stream; a client can go on after its id. */
export interface StreamEvent<T> {
  readonly id?: string
  readonly data: T
}

/** Serves a connection that a request has become. */
export type ServeConnection = (connection: Socket) => void

/** What a route answers: its reply, the events of its stream, or who serves its connection. What is thrown before the first is an answer, too. */
export type Answer<N extends RouteName> = Routes[N] extends { readonly events: TSchema }
  ? AsyncIterable<StreamEvent<EventOf<N>>>
  : Routes[N] extends { readonly isUpgrade: true }
    ? ServeConnection
    : ReplyOf<N>

export type RouteHandler<N extends RouteName> = (call: Call<N>) => Promise<Answer<N>>

/** One handler for each route of the table. */
export type Handlers = { readonly [N in RouteName]: RouteHandler<N> }
/** Those of one part of the table. */
export type HandlersOf<Table> = Pick<Handlers, keyof Table & RouteName>

/** What a body says in words, for the audit; only of routes whose bodies have no secret. */
export const wordsOf = (
  body: Readonly<Record<string, string | boolean | undefined>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(body).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
  )
