import { NoPlatform, PlatformRefusal } from '../../client/client.ts'

/** Reason why a request failed, as texts for users. */
export interface Failure {
  /** `offline`: there was no response. */
  readonly kind: 'refused' | 'offline' | 'login'
  readonly message: string
  readonly hint?: string
  /** Code for `devctl explain`. */
  readonly code?: string
  readonly notes?: readonly string[]
  /** Set if a later request may succeed, so that data from an earlier one is still shown. */
  readonly isPassing?: true
}

/**
 * True if a proxy reports that the platform currently has no replica. A 404 counts, too: the platform served this page,
 * so it exists.
 */
export const isAway = ({ status }: NoPlatform): boolean => status >= 500 || status === 404

/**
 * True if a retry would fail, too. False for a platform that is overloaded or starting up, which accepts the request
 * later.
 */
export function isFinal(error: unknown): boolean {
  if (!(error instanceof NoPlatform || error instanceof PlatformRefusal) || LATER.has(error.status)) return false
  return error instanceof NoPlatform ? !isAway(error) : error.status < 500
}

/** HTTP statuses below 500 after which a retry may succeed: Request Timeout and Too Many Requests. */
const LATER: ReadonlySet<number> = new Set([408, 429])

/** Converts the error of a call to a problem. */
export const toProblem = (error: unknown): Failure => ({
  ...shownOf(error),
  ...(!isFinal(error) && { isPassing: true }),
})

function shownOf(error: unknown): Failure {
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
      ? { kind: 'offline', message: 'The platform does not answer' }
      : { kind: 'refused', message: error.message, hint: 'Check whether there is a proxy in front of the platform.' }
  return { kind: 'offline', message: 'The platform cannot be reached' }
}

/**
 * Adds a hint to a problem if the request got no response. The caller provides the hint, because only the caller knows
 * if the request is sent again.
 */
export const withHint = (problem: Failure, hint: string): Failure =>
  problem.kind === 'offline' ? { ...problem, hint } : problem
