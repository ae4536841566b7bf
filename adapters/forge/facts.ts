import type { Abortable } from './forge.ts'

/** A user of a forge. The id still identifies the user if another user takes over the login name. */
export interface ForgePerson {
  readonly id: string
  readonly login: string
}

/** The current state of a request on the forge. Repositories are identified by their numbers. */
export interface ForgePull {
  readonly number: number
  readonly isOpen: boolean
  readonly page: string
  readonly title: string
  readonly author: ForgePerson
  /** Number of the repository to merge into. */
  readonly base: string
  /** Last commit of the request's branch. */
  readonly commit: string
  readonly branch: string
  /**
   * Repository of the request's branch; undefined if the repository was deleted or cannot be read. `owner` is set only
   * if the owner is a person.
   */
  readonly head: { readonly id: string; readonly url: string; readonly owner?: string } | undefined
}

/**
 * Facts that a forge reports about one repository and its pull requests, for callers that must determine who controls
 * the code. Every method throws a ForgeError if the forge refuses the call or does not respond: a missing answer never
 * counts as permission.
 */
export interface RepositoryFacts {
  /** Returns the number of the repository, and whether the token's user may write to it. */
  repository(waiting?: Abortable): Promise<{ readonly id: string; readonly mayWrite: boolean }>
  pull(number: number, waiting?: Abortable): Promise<ForgePull>
  /**
   * Returns true if a person may write to the repository. Also returns false if the token has no permission to query
   * this.
   */
  mayWrite(person: ForgePerson, waiting?: Abortable): Promise<boolean>
}
