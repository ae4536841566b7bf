import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import type { Validator } from '../json/parse-json.ts'
import type { ForgeAnswer, ForgeMessage } from './api/exchange.ts'
import type { RepositoryFacts } from './facts.ts'
import type { Forge, PullRequests, RepositoryWebhooks } from './forge.ts'

export type ForgeVariables = Readonly<Record<string, string | undefined>>

/**
 * The implementation of one kind of forge. The rest of this folder contains no code for a particular kind: it uses this
 * module to send calls, to detect the kind of a server and to write texts.
 */
export interface ForgeModule<Kind extends ForgeKind = ForgeKind> {
  readonly kind: Kind
  /** Name of the forge in messages. */
  readonly name: string
  /** The forge's term for a request to merge a branch: `pull request`, `merge request`. */
  readonly noun: string
  /**
   * Returns true if the host name alone identifies this kind: a public server, or a name that contains the name of the
   * software.
   */
  readonly isHost: (host: string) => boolean
  /** True if a repository can be in a nested group: `group/subgroup/name`. */
  readonly hasSubgroups: boolean
  /** Returns the root of the API for the web pages below `root`; both without a trailing slash. */
  readonly apiOf: (root: string) => string
  /**
   * Call that distinguishes this kind's servers from others; it is sent without a token. Absent for a kind with a
   * single public server.
   */
  readonly question?: KindQuestion
  /**
   * Variables in which this forge's pipelines store the address of the server. A token is sent to that address, so
   * variables that can have any other value are not included.
   */
  readonly serverVariables: readonly string[]
  /** Returns the servers that the variables of the environment name. */
  readonly serversIn: (env: ForgeVariables) => readonly NamedServer[]
  readonly tokens: TokenVariables
  /**
   * Returns the headers of each call, including the one with the token. A token is the only credential; there is no
   * user name.
   */
  readonly headers: (token: string) => Readonly<Record<string, string>>
  /** Returns the permissions that a token needs, in words. `said` is the forge's reason for a refusal. */
  readonly permissionHint: (said: string) => string
  /** Returns a message for a refusal that only this forge sends; undefined for any other refusal. */
  readonly refusal?: (
    answer: ForgeAnswer,
    variable: string,
  ) => { readonly message: string; readonly hint: string } | undefined
  /** Maximum length of a pull request's description in characters; each module notes the source of its limit. */
  readonly bodyLimit: number
  /** Returns the web pages of the repository at `root`. */
  readonly pages: (root: string) => Pages
  /**
   * Returns access to the requests of the site's repository. Callers truncate all texts to `bodyLimit` before they pass
   * them.
   */
  readonly connect: (api: Calls) => PullRequests
  /** Webhook events about requests, as named on the forge's settings page. */
  readonly webhookEvents: string
  /** Returns access to the webhooks of the site's repository. A new webhook is for the events in `webhookEvents`. */
  readonly webhooks: (api: Calls) => RepositoryWebhooks
  /** Returns access to the facts about the site's repository and its requests. */
  readonly facts: (api: Calls) => RepositoryFacts
}

export type Pages = Pick<Forge, 'newRequestPage' | 'requestsPage' | 'commitPage'>

/** A call that a server of this kind answers without a token, even if only with a refusal. */
export interface KindQuestion {
  /** Path from the root of the server. */
  readonly path: string
  /**
   * Returns true if the response comes from a server of this kind. Must return false for every other kind of server,
   * even for one that has copied the API.
   */
  readonly isIt: (answer: ForgeAnswer) => boolean
}

/** A server that the environment variables name. Values that are not addresses count as not set. */
export interface NamedServer {
  /** Address of the web pages; if absent, the root of the API's host. */
  readonly web: string | undefined
  readonly api?: string | undefined
  /** Host in SSH addresses, if it differs from the host of the web pages. */
  readonly ssh?: string | undefined
}

/** Variables that contain tokens, besides the variable that works with every forge. */
export interface TokenVariables {
  /** Variables for the public server, and for the server that a pipeline runs on. */
  readonly names: readonly string[]
  /** Returns the variables that may contain a token for the site. The first one that is set is used. */
  readonly namesFor: (site: Site, env: ForgeVariables) => readonly string[]
  /**
   * Returns the origins that the token in the variable may be sent to: public servers, and servers that the forge's own
   * tools read from the environment. The name of the variable determines the origins.
   */
  readonly knownOrigins: (variable: string, site: Site, env: ForgeVariables) => readonly string[]
  /** Variable with a pipeline token that cannot open requests, and the kind of token that a user needs instead. */
  readonly unfit?: { readonly variable: string; readonly instead: string }
  /** Returns the only repository for which the token in a variable is valid; undefined if unknown. */
  readonly repositoryOf?: (variable: string, env: ForgeVariables) => string | undefined
}

/** A repository on a forge. */
export interface Site {
  readonly kind: ForgeKind
  /** Root of the web pages, without a trailing slash: `https://gitlab.example.com`, `https://example.com/gitlab`. */
  readonly web: string
  /** Root of the API, without a trailing slash: `https://api.github.com`. */
  readonly api: string
  /** Path of the repository: `owner/name`; GitLab's groups may have subgroups. */
  readonly path: string
  /** True if this CI job runs on this forge. */
  readonly isOurs: boolean
}

export interface ForgeCall {
  readonly method: ForgeMessage['method']
  /** Path below the root of the API, with the query. */
  readonly path: string
  /** Body that is sent as JSON. */
  readonly body?: unknown
  /** Purpose of the call, for messages: `open a pull request`. */
  readonly purpose: string
  /** True if the call may be repeated when its outcome is unknown, because it only reads, or sets a value. */
  readonly mayRepeat: boolean
  /**
   * Permissions that the token needs for the call, in words; absent if the permissions for handling pull requests are
   * enough.
   */
  readonly permission?: string
  readonly signal?: AbortSignal | undefined
}

/** Items of one page of a list, and facts about the other pages. */
export interface ListPage<T> {
  readonly items: readonly T[]
  /** True if the forge names the address of another page. */
  readonly hasMore: boolean
  /** Number of items on all pages; 0 if the forge does not tell it. */
  readonly total: number
}

/** Sends calls to the API of a forge. All methods throw ForgeErrors, or the signal's abort reason. */
export interface Calls {
  readonly site: Site
  /**
   * Sends a call. Retries temporary failures until the signal is aborted or the attempts are used up: rate limits, and,
   * for calls that may be repeated, also 5xx and lost connections.
   */
  send(call: ForgeCall): Promise<void>
  /** Sends a call as `send` does, and returns the response, which must match the schema. */
  object<T>(call: ForgeCall, validate: Validator<T>): Promise<T>
  /**
   * Sends a call as `send` does. Returns one page of a list, and whether more pages follow. The response must be a JSON
   * array, with a `Link` or `X-Total-Count` header if more pages follow; any other list is read with `object`, page by
   * page.
   */
  list<T>(call: ForgeCall, validate: Validator<readonly T[]>): Promise<ListPage<T>>
  /**
   * Waits before the next attempt. The pause grows with the number of failures, and lasts at least `atLeast`
   * milliseconds.
   */
  pause(failures: number, signal: AbortSignal | undefined, atLeast?: number): Promise<void>
}
