import type { ErrorBody } from '../../api/common.ts'
import { LOG_IN_FIRST } from '../../rules/accounts/log-in-first.ts'
import type { RefusalCode } from '../../rules/refusal-pages.ts'

/** An error caused by the caller, or a refusal. It becomes the response to the request. */
export class PlatformError extends Error {
  readonly status: number
  readonly body: ErrorBody

  constructor(status: number, code: RefusalCode, message: string, more: Pick<ErrorBody, 'hint' | 'notes'> = {}) {
    super(message)
    this.status = status
    this.body = { code: `platform/${code}`, message, ...more }
  }
}

/**
 * Returns the same error for a namespace that does not exist and for a namespace that the caller may not see, so names
 * are not disclosed.
 */
export const noNamespace = (name: string): PlatformError =>
  new PlatformError(404, 'no-namespace', `namespace \`${name}\` does not exist, or you are not a member of it`, {
    hint: '`devctl namespace list` lists yours; its owner can share it with you',
  })

export const notAllowed = (what: string, who: string): PlatformError =>
  new PlatformError(403, 'not-allowed', `${what} needs ${who}`)

/**
 * Returns the error for an action (`what`) that only other users (`who`) may perform, such as `only the owner of … may
 * deploy there`.
 */
export const onlyFor = (what: string, who: string, hint?: string): PlatformError =>
  new PlatformError(403, 'not-allowed', `only ${who} may ${what}`, hint === undefined ? {} : { hint })

export const notLoggedIn = (): PlatformError =>
  new PlatformError(401, 'login', LOG_IN_FIRST, { hint: '`devctl context use URL` logs in' })
