import { NoPlatform, PlatformRefusal } from '../../client/client.ts'

/** Reason why a request failed, in words for a person. */
export interface Failure {
  /** `offline`: nothing answered, so it is tried again. */
  readonly kind: 'refused' | 'offline' | 'login'
  readonly message: string
  readonly hint?: string
  /** Code for `devctl explain`. */
  readonly code?: string
  readonly notes?: readonly string[]
}

/**
 * True if what is before the platform says that it has no replica just now: this page has come from it, so also if it
 * says that there is nothing.
 */
export const isAway = ({ status }: NoPlatform): boolean => status >= 500 || status === 404

/** Converts an error of a call to a problem. */
export function toProblem(error: unknown): Failure {
  if (error instanceof PlatformRefusal) {
    const { code, message, hint, notes } = error.body
    return {
      kind: error.status === 401 ? 'login' : 'refused',
      message,
      code,
      ...(hint !== undefined && { hint }),
      ...(notes && { notes }),
    }
  }
  if (error instanceof NoPlatform)
    return isAway(error)
      ? { kind: 'offline', message: 'The platform does not answer', hint: 'Retrying automatically.' }
      : { kind: 'refused', message: error.message, hint: 'Check whether there is a proxy in front of the platform.' }
  return { kind: 'offline', message: 'The platform cannot be reached', hint: 'Retrying automatically.' }
}
