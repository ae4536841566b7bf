import type { ForgeKind } from '../../compiler/values/repository-names.ts'

/** The server that keeps a repository and on which its changes are reviewed. */
export interface Forge {
  readonly kind: ForgeKind
  /** Its name in messages. */
  readonly name: string
  /** Its term for a request: `pull request`, `merge request`. */
  readonly noun: string
  /** Its requests, where the environment has a token that may be sent there. */
  readonly requests: PullRequests | undefined
  /**
   * The reason why there are no requests, and what to set: a sentence for the user, without a full stop. Absent with a
   * token.
   */
  readonly withoutToken?: string
  /**
   * Returns the page on which a user can open a request, its title filled in. The body is not: addresses have a limit
   * of a few thousand characters.
   */
  newRequestPage(request: Branches & { readonly title: string }): string
  /** Page that lists all requests of the repository. */
  readonly requestsPage: string
  commitPage(commit: string): string
}

/** The two branches of a request, both in the same repository, without `refs/heads/`. */
export interface Branches {
  /** The branch with the changes. */
  readonly head: string
  /** The branch that they are to be merged into. */
  readonly base: string
}

/** The text for a reviewer. */
export interface RequestText {
  readonly title: string
  /** Markdown. What is longer than the forge takes is cut (`clampBody`). */
  readonly body: string
}

export interface NewRequest extends Branches, RequestText {
  /** Names of labels. */
  readonly labels?: readonly string[]
  /** User names; `org/team` for a team, if the forge has teams. */
  readonly reviewers?: readonly string[]
  readonly draft?: boolean
}

/** A comment that is found again. */
export interface MarkedComment {
  /** `<!-- devctl preview shop-pr-7 -->` */
  readonly marker: string
  /** Markdown, without the marker. */
  readonly body: string
  /** Its number, where it is known: it is changed without looking for it. */
  readonly id?: number
}

/** An open request as the forge has it. */
export interface PullRequest extends RequestText {
  readonly number: number
  /** Its page. */
  readonly url: string
  readonly isDraft: boolean
}

/** A request, and what could not be done about it: an unknown reviewer does not stop a publish. */
export interface OpenResult {
  readonly request: PullRequest
  /** True if it was created now; false if one existed already, which then has the new text. */
  readonly isNew: boolean
  /** The things that could not be done, in words: lower case, no full stop. */
  readonly notes: readonly string[]
}

export interface Abortable {
  /** Ends the call and the waiting between attempts; what it was aborted with is thrown. */
  readonly signal?: AbortSignal
}

/**
 * The requests of one repository. Everything throws a ForgeError (a UserError) where the forge
 * refuses or does not answer.
 */
export interface PullRequests {
  /** The open request between two branches of this repository; those of forks do not count. */
  find(branches: Branches, waiting?: Abortable): Promise<PullRequest | undefined>
  /**
   * Opens a request, or gives the one that is open between these branches the new text. Safe to
   * repeat.
   */
  open(request: NewRequest, waiting?: Abortable): Promise<OpenResult>
  /** Gives a request another text; writes nothing where it has it already. A draft stays one. */
  update(request: PullRequest, text: RequestText, waiting?: Abortable): Promise<PullRequest>
  /**
   * Closes a request without merging it and says why below it. Gives what could not be done, in
   * words.
   */
  close(request: PullRequest, comment: string, waiting?: Abortable): Promise<readonly string[]>
  /**
   * Writes the single comment of a request that begins with a marker, or replaces its text. A marker is an HTML
   * comment, which is not displayed. Returns the number of the comment, if the forge reports it.
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
 * The webhooks in the settings of one repository. Everything throws a ForgeError if the forge refuses or does not
 * answer.
 */
export interface RepositoryWebhooks {
  /** Adds one that sends the events of requests, and gives its number. */
  add(webhook: NewWebhook, waiting?: Abortable): Promise<number>
  /** Removes a webhook; it is no error if it was removed already. */
  remove(number: number, waiting?: Abortable): Promise<void>
}
