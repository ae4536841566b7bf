import Type, { type TSchema } from 'typebox'

/**
 * Callers that a route allows. `nobody`: no login is needed; `user`: any token of a person; `person`: a person in a
 * browser or at a command line, but no token for programs; `admin`: an administrator; `registry`: a registry client,
 * with a token or with a login that is valid for images only.
 */
export type Caller = 'nobody' | 'user' | 'person' | 'admin' | 'registry'

/** A route: its request, its response, who may call it, and its name in the audit log. */
export interface ApiRoute {
  readonly caller: Caller
  readonly params?: TSchema
  /** Query parameters; each is a string that matches its schema. */
  readonly query?: TSchema
  readonly body?: TSchema
  /**
   * Schema of the response body. If `reply`, `events` and `isUpgrade` are all absent, the response has status 204 and
   * no body.
   */
  readonly reply?: TSchema
  /** True if the body can be any JSON. The handler gets the raw bytes, because the sender signs them. */
  readonly isRaw?: true
  /**
   * Schema of the events, for routes that respond with a stream (`text/event-stream`) instead of a reply. A client can
   * resume the stream after an event id.
   */
  readonly events?: TSchema
  /**
   * True for routes that upgrade the connection (`Upgrade` header) to a byte stream in both directions, instead of a
   * reply.
   */
  readonly isUpgrade?: true
  /** Name of the action in the audit log, set for requests that change something. */
  readonly audit?: string
  /**
   * True if a run may call the route with its own token, for its own namespace (`ns` of the path, `namespace` of the
   * query). The code of a repository has this token; the person who started the run does not.
   */
  readonly isForRuns?: true
  /** True if CI jobs may call the route with their own tokens, which no other route accepts. */
  readonly isForCi?: true
  /** True if the reply contains a credential. No other reply may contain one. */
  readonly isSecret?: true
}

export const route = <const R extends ApiRoute>(one: R): R => one

export const listOf = <T extends TSchema>(item: T) => Type.Object({ items: Type.Array(item) })
