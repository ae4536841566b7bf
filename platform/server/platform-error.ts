import type { ErrorBody } from '../api/common.ts'

/** What a caller did wrong, or cannot have: the answer to a request. */
export class PlatformError extends Error {
  readonly status: number
  readonly body: ErrorBody

  constructor(status: number, code: string, message: string, more: Pick<ErrorBody, 'hint' | 'notes'> = {}) {
    super(message)
    this.status = status
    this.body = { code: `platform/${code}`, message, ...more }
  }
}

/** The same answer for what is not there and for what somebody may not see: names are not told. */
export const noNamespace = (name: string): PlatformError =>
  new PlatformError(404, 'no-namespace', `namespace \`${name}\` does not exist, or you are no member of it`, {
    hint: '`devctl namespace list` lists yours; its owner can share it with you',
  })

export const notAllowed = (what: string, who: string): PlatformError =>
  new PlatformError(403, 'not-allowed', `${what} needs ${who}`)

export const notLoggedIn = (): PlatformError =>
  new PlatformError(401, 'login', 'log in first', { hint: '`devctl context use URL` logs in' })
