import Type, { type TSchema } from 'typebox'

/**
 * Callers that a route allows. `nobody`: no login is needed; `user`: any token of a person; `person`: a person in a
 * browser or at a command line, but no token for programs; `admin`: an administrator; `registry`: a registry client,
 * with a token or a login that is for images only.
 */
export type Caller = 'nobody' | 'user' | 'person' | 'admin' | 'registry'

/** A route: its request, its response, who may call it, and its name in the audit log. */
export interface ApiRoute {
  readonly caller: Caller
  readonly params?: TSchema
  /** Query parameters: each is a string that matches its schema. */
  readonly query?: TSchema
  readonly body?: TSchema
  /** Absent, without `events` and `isUpgrade`: the response is 204 without a body. */
  readonly reply?: TSchema
  /** The body is any JSON, and the handler gets its raw bytes, because the sender signs them. */
  readonly isRaw?: true
  /** Instead of a reply: a stream of such events (`text/event-stream`), which a client can resume after an id. */
  readonly events?: TSchema
  /** Instead of a reply: a connection for bytes in both directions, by `Upgrade`. */
  readonly isUpgrade?: true
  /** Name of the action in the audit log, set for requests that change something. */
  readonly audit?: string
  /**
   * A run may call it, with its own token and for its own namespace (`ns` of the path, `namespace` of the query). Code
   * of a repository has that token, and not the person who started the run.
   */
  readonly isForRuns?: true
  /** CI jobs may call it with their token, which no other route accepts. */
  readonly isForCi?: true
  /** The reply contains a credential. No other reply may. */
  readonly isSecret?: true
}

export const route = <const R extends ApiRoute>(one: R): R => one

export const listOf = <T extends TSchema>(item: T) => Type.Object({ items: Type.Array(item) })
