import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import type { Validator } from '../json/parse-json.ts'
import type { ForgeAnswer, ForgeMessage } from './api/exchange.ts'
import type { RepositoryFacts } from './facts.ts'
import type { Forge, PullRequests, RepositoryWebhooks } from './forge.ts'

export type ForgeVariables = Readonly<Record<string, string | undefined>>

/**
 * The implementation of one kind of forge. The rest of this folder sends calls, detects the kind of
 * a server and writes texts, without code for any particular kind: it uses the module.
 */
export interface ForgeModule<Kind extends ForgeKind = ForgeKind> {
  readonly kind: Kind
  /** Its name in messages. */
  readonly name: string
  /** Its term for a request: `pull request`, `merge request`. */
  readonly noun: string
  /**
   * True if the name of a host alone shows that it is of this kind: a public server, or one that is
   * named after the software.
   */
  readonly isHost: (host: string) => boolean
  /**
   * The name under which the ssh server of a host listens at port 443, for networks that let
   * nothing else through.
   */
  readonly sshOverHttps?: { readonly name: string; readonly host: string }
  /** True if a repository can be in a nested group: `group/subgroup/name`. */
  readonly hasSubgroups: boolean
  /**
   * The root of the API of the server whose pages are below `root`; both without a slash at the
   * end.
   */
  readonly apiOf: (root: string) => string
  /**
   * The call that distinguishes its servers from those of other kinds; it is sent without a token. Absent for a kind
   * with one public server.
   */
  readonly question?: KindQuestion
  /**
   * Variables of its pipelines that hold the address of the server and nothing else: a token is
   * sent there.
   */
  readonly serverVariables: readonly string[]
  /** The servers that such variables name. */
  readonly serversIn: (env: ForgeVariables) => readonly NamedServer[]
  readonly tokens: TokenVariables
  /**
   * Returns the headers that each call is sent with, the one with the token included. A token is the only credential:
   * there is no user name.
   */
  readonly headers: (token: string) => Readonly<Record<string, string>>
  /** The permissions that a token needs, in words. `said` is the forge's reason for a refusal. */
  readonly permissionHint: (said: string) => string
  /** The words for a refusal that only this forge knows; undefined for all others. */
  readonly refusal?: (
    answer: ForgeAnswer,
    variable: string,
  ) => { readonly message: string; readonly hint: string } | undefined
  /** Longest text of a request in characters; each module notes where the limit comes from. */
  readonly bodyLimit: number
  /** The web pages of the repository at `root`. */
  readonly pages: (root: string) => Pages
  /** The requests of the repository of the site. Bodies are within the limit already. */
  readonly connect: (api: Calls) => PullRequests
  /** The events of a webhook that are about requests, as its page calls them. */
  readonly webhookEvents: string
  /** Webhooks of the repository of the site, for these events. */
  readonly webhooks: (api: Calls) => RepositoryWebhooks
  /** Returns the facts about the repository of the site and about its requests. */
  readonly facts: (api: Calls) => RepositoryFacts
}

export type Pages = Pick<Forge, 'newRequestPage' | 'requestsPage' | 'commitPage'>

/** A call that a server of the kind answers without a token, if only with a refusal. */
export interface KindQuestion {
  /** Path from the root of the server. */
  readonly path: string
  /** Must return false for every other kind of server, even one that copied this API. */
  readonly isIt: (answer: ForgeAnswer) => boolean
}

/** A server as the environment names it; what is not an address counts as not set. */
export interface NamedServer {
  /** The address of its pages; the root of the API's host where it is absent. */
  readonly web: string | undefined
  readonly api?: string | undefined
  /** The host of its addresses for ssh, where that is another one. */
  readonly ssh?: string | undefined
}

/** The variables that tokens come from, beside the one that works with each forge. */
export interface TokenVariables {
  /** Variables of the public server, and of the server that a pipeline runs on. */
  readonly names: readonly string[]
  /** Returns the variables whose token may be for this site; the first that is set counts. */
  readonly namesFor: (site: Site, env: ForgeVariables) => readonly string[]
  /**
   * Origins that the name of a variable vouches for: public servers, and those that the tools of
   * the forge take from the environment.
   */
  readonly knownOrigins: (variable: string, site: Site, env: ForgeVariables) => readonly string[]
  /** A token of a pipeline that cannot open requests, and the value to set a variable to instead. */
  readonly unfit?: { readonly variable: string; readonly instead: string }
  /** The only repository that the token of a variable is for, where that is known. */
  readonly repositoryOf?: (variable: string, env: ForgeVariables) => string | undefined
}

/** A repository on a forge. */
export interface Site {
  readonly kind: ForgeKind
  /**
   * The root of its pages, without a slash at the end: `https://gitlab.example.com`,
   * `https://example.com/gitlab`.
   */
  readonly web: string
  /** The root of its API, without a slash at the end: `https://api.github.com`. */
  readonly api: string
  /** `owner/name`; groups of GitLab may have subgroups. */
  readonly path: string
  /** True if the continuous integration runs on this very forge. */
  readonly isOurs: boolean
}

export interface ForgeCall {
  readonly method: ForgeMessage['method']
  /** Below the root of the API, with the query. */
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** The purpose of the call, for messages: `open a pull request`. */
  readonly purpose: string
  /**
   * True if the call may be repeated when its outcome is unknown: it only reads, or sets something
   * to a value.
   */
  readonly mayRepeat: boolean
  /** The rights that the token needs, in words, if they are more than those for requests. */
  readonly permission?: string
  readonly signal?: AbortSignal | undefined
}

/** Calls of the API of a forge. All throw ForgeErrors, or the reason of the signal. */
export interface Calls {
  readonly site: Site
  /**
   * Sends a call. What may pass is tried again until the signal is aborted or the attempts are used
   * up: rate limits, and for calls that may be repeated also 5xx and cut connections.
   */
  send(call: ForgeCall): Promise<void>
  /** Sends a call as `send` does, and returns the answer, which must match the schema. */
  object<T>(call: ForgeCall, validate: Validator<T>): Promise<T>
  /**
   * Sends a call as `send` does, and returns a list and whether it has more pages. The answer must be a JSON array,
   * with a `Link` header if there are more; any other list is read with `object`, page by page.
   */
  list<T>(
    call: ForgeCall,
    validate: Validator<readonly T[]>,
  ): Promise<{ readonly items: readonly T[]; readonly hasMore: boolean }>
  /** Waits before something is tried once more, after so many failures. */
  pause(failures: number, signal: AbortSignal | undefined, atLeast?: number): Promise<void>
}
