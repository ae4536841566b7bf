import type { ForgeKind } from '../../compiler/values/repository-names.ts'

/** A server that hosts a repository and on which its changes are reviewed. */
export interface Forge {
  readonly kind: ForgeKind
  /** Name of the forge in messages. */
  readonly name: string
  /** The forge's term for a request to merge a branch: `pull request`, `merge request`. */
  readonly noun: string
  /** Requests of the repository; undefined if the environment has no token that may be sent to the forge. */
  readonly requests: PullRequests | undefined
  /**
   * Reason why `requests` is undefined, and what to set: a sentence for the user, without a full stop. Absent if there
   * is a token.
   */
  readonly withoutToken?: string
  /**
   * Returns the address of the page on which a user can open a request, with the title filled in. Leaves the body
   * empty, because the length of an address is limited to a few thousand characters.
   */
  newRequestPage(request: Branches & { readonly title: string }): string
  /** Address of the page that lists all requests of the repository. */
  readonly requestsPage: string
  commitPage(commit: string): string
}

/** The two branches of a request, both in the same repository, without `refs/heads/`. */
export interface Branches {
  /** Branch with the changes. */
  readonly head: string
  /** Branch to merge the changes into. */
  readonly base: string
}

/** Title and description of a request, for its reviewers. */
export interface RequestText {
  readonly title: string
  /** Description in Markdown. Truncated if it exceeds the forge's limit (`clampBody`). */
  readonly body: string
}

export interface NewRequest extends Branches, RequestText {
  /** Names of labels. */
  readonly labels?: readonly string[]
  /** User names; `org/team` for a team, if the forge has teams. */
  readonly reviewers?: readonly string[]
  readonly draft?: boolean
}

/** A comment that is identified by its marker. */
export interface MarkedComment {
  /** HTML comment by which devctl finds its comment, such as `<!-- devctl preview shop-pr-7 -->`. */
  readonly marker: string
  /** Text in Markdown, without the marker. */
  readonly body: string
  /** Number of the comment, if known. The comment is then updated without a search. */
  readonly id?: number
}

/** An open request as reported by the forge. */
export interface PullRequest extends RequestText {
  readonly number: number
  /** Address of the request's web page. */
  readonly url: string
  readonly isDraft: boolean
}

/**
 * The pull request, and warnings about optional steps that failed. For example, an unknown reviewer does not fail the
 * publish.
 */
export interface OpenResult {
  readonly request: PullRequest
  /** True if the request was created now; false if it already existed, and its text was updated. */
  readonly isNew: boolean
  /** Optional parts that failed, in words: lower case, no full stop. */
  readonly notes: readonly string[]
}

export interface Abortable {
  /** Signal that ends the call and the pauses between attempts; its abort reason is thrown. */
  readonly signal?: AbortSignal
}

/**
 * The requests of one repository. All methods throw a ForgeError (a UserError) if the forge refuses or does not
 * respond.
 */
export interface PullRequests {
  /** Returns the open request between two branches of this repository; ignores requests from forks. */
  find(branches: Branches, waiting?: Abortable): Promise<PullRequest | undefined>
  /** Opens a request. If an open request between the same branches exists, updates its text instead. Safe to repeat. */
  open(request: NewRequest, waiting?: Abortable): Promise<OpenResult>
  /** Updates the text of a request; sends nothing if the text is the same. A draft stays a draft. */
  update(request: PullRequest, text: RequestText, waiting?: Abortable): Promise<PullRequest>
  /**
   * Closes a request without merging it, and adds a comment with the reason. If the comment cannot be added, returns
   * the failure in words.
   */
  close(request: PullRequest, comment: string, waiting?: Abortable): Promise<readonly string[]>
  /**
   * Writes the comment of a request that begins with the marker; if that comment exists, replaces its text. The marker
   * is an HTML comment, which is not displayed. Returns the number of the comment, if the forge reports it.
   */
  comment(number: number, comment: MarkedComment, waiting?: Abortable): Promise<number | undefined>
}

/**
 * The settings of a new webhook: the address that the forge sends deliveries to, and the secret that it signs them
 * with.
 */
export interface NewWebhook {
  readonly address: string
  readonly secret: string
}

/**
 * The webhooks in the settings of one repository. All methods throw a ForgeError if the forge refuses or does not
 * respond.
 */
export interface RepositoryWebhooks {
  /** Adds a webhook for request events, and returns its number. */
  add(webhook: NewWebhook, waiting?: Abortable): Promise<number>
  /** Removes a webhook; does nothing if it does not exist. */
  remove(number: number, waiting?: Abortable): Promise<void>
}
