import type { Abortable } from './forge.ts'

/** Somebody at a forge; the number stays when the name is given to others. */
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
  /** Where its branch is; undefined where that is gone, or not to be seen. `owner` is a person. */
  readonly head: { readonly id: string; readonly url: string; readonly owner?: string } | undefined
}

/**
 * What a forge says of one repository and of its requests, for who has to know whose code it is. Everything throws
 * a ForgeError where the forge refuses or does not answer: no answer is never taken for a right.
 */
export interface RepositoryFacts {
  /** Its number, and whether the token is of somebody who may write there. */
  repository(waiting?: Abortable): Promise<{ readonly id: string; readonly mayWrite: boolean }>
  pull(number: number, waiting?: Abortable): Promise<ForgePull>
  /** False also where the token may not ask. */
  mayWrite(person: ForgePerson, waiting?: Abortable): Promise<boolean>
}
