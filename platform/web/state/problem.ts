import { NoPlatform, PlatformRefusal } from '../../client/client.ts'

/** Why something could not be had, in words for a person. */
export interface Failure {
  /** `offline`: nothing answered, so it is tried again. */
  readonly kind: 'refused' | 'offline' | 'login'
  readonly message: string
  readonly hint?: string
  /** What `devctl explain` takes. */
  readonly code?: string
  readonly notes?: readonly string[]
}

/** What was thrown by a call. */
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
    // This page has come from it: without a replica, what is before it may say that there is nothing.
    return error.status >= 500 || error.status === 404
      ? { kind: 'offline', message: 'The platform does not answer', hint: 'Retrying automatically.' }
      : { kind: 'refused', message: error.message, hint: 'Check whether there is a proxy in front of the platform.' }
  return { kind: 'offline', message: 'The platform cannot be reached', hint: 'Retrying automatically.' }
}
