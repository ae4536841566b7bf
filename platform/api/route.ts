import Type, { type TSchema } from 'typebox'

/**
 * Who may call a route. `nobody`: no login is needed; `user`: any token of a person; `person`: a person
 * themselves, by browser or command line, not a token for programs; `admin`: an administrator; `registry`: the
 * client of a registry, with a token or a login that is for images only.
 */
export type Caller = 'nobody' | 'user' | 'person' | 'admin' | 'registry'

/** One way in: what is sent, what comes back, who may call, and the word that the audit writes for it. */
export interface ApiRoute {
  readonly caller: Caller
  readonly params?: TSchema
  /** Values are text; each is a name of the shape. */
  readonly query?: TSchema
  readonly body?: TSchema
  /** Absent, and neither `events` nor `isUpgrade`: 204 without a body. */
  readonly reply?: TSchema
  /** The body is any JSON, and the handler gets its bytes as they came: a program that signs them sends it. */
  readonly isRaw?: true
  /** In the place of a reply: a stream of such events (`text/event-stream`), which a client can resume after an id. */
  readonly events?: TSchema
  /** In the place of a reply: a connection for bytes in both directions, by `Upgrade`. */
  readonly isUpgrade?: true
  /** Of requests that change something. */
  readonly audit?: string
  /**
   * A run may call it, with its own token and for its own namespace (`ns` of the path, `namespace` of the query): code of a repository
   * has that token, not the person who has started the run.
   */
  readonly isForRuns?: true
  /** CI jobs may call it with their token, and nothing else. */
  readonly isForCi?: true
  /** The reply has a credential in it. No other reply may. */
  readonly isSecret?: true
}

export const route = <const R extends ApiRoute>(one: R): R => one

export const listOf = <T extends TSchema>(item: T) => Type.Object({ items: Type.Array(item) })
