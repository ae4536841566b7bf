import type { Abortable } from './forge.ts'

/** A user of a forge; the id stays the same when the login is given to another user. */
export interface ForgePerson {
  readonly id: string
  readonly login: string
}

/** A request as the forge has it now. Repositories go by number. */
export interface ForgePull {
  readonly number: number
  readonly isOpen: boolean
  readonly page: string
  readonly title: string
  readonly author: ForgePerson
  /** The repository into which it is to be merged. */
  readonly base: string
  /** The last commit of its branch. */
  readonly commit: string
  readonly branch: string
  /** The repository of its branch; undefined if it was deleted or cannot be read. `owner` is set only for a person. */
  readonly head: { readonly id: string; readonly url: string; readonly owner?: string } | undefined
}

/**
 * The facts that a forge reports about one repository and its requests, for callers that have to know whose code it is.
 * Every method throws a ForgeError if the forge refuses or does not answer: a missing answer never counts as a right.
 */
export interface RepositoryFacts {
  /** Returns the number of the repository, and whether the user of the token may write there. */
  repository(waiting?: Abortable): Promise<{ readonly id: string; readonly mayWrite: boolean }>
  pull(number: number, waiting?: Abortable): Promise<ForgePull>
  /** False also where the token may not ask. */
  mayWrite(person: ForgePerson, waiting?: Abortable): Promise<boolean>
}
