import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { PAGES } from '../../../platform/api/pages.ts'
import type { Secret } from '../../../project/contexts/secret.ts'
import type { Io } from '../../terminal/io.ts'
import { withDeadline } from '../deadline.ts'

/** Timeout in milliseconds, short so that the user does not wait long for a platform that no longer exists. */
const LOGOUT = 5000

/**
 * Logs this machine out of the platform. Returns a message for the user if the token is still valid afterwards;
 * undefined otherwise. An API token for programs stays valid, because other programs may use it, too.
 */
export async function logOut(io: Io, url: string, token: Secret): Promise<string | undefined> {
  if (token.reveal().startsWith('devctl_api_'))
    return `the token for programs stays valid; to delete it, open ${url}${PAGES.tokens}\n`
  const problem = await revoke(io, url, token)
  return problem && `warning: the login is still valid: ${problem}\n  = help: to end it, open ${url}${PAGES.you}\n`
}

/** Revokes a login. Returns the reason if that fails; undefined if the login is no longer valid. */
async function revoke(io: Io, url: string, token: Secret): Promise<string | undefined> {
  const { logOutOf } = await import('../../../platform/session/log-out.ts')
  let problem: string | undefined = 'interrupted'
  try {
    await withDeadline(io, { timeout: LOGOUT, hint: '', onInterrupt: () => {} }, async signal => {
      await logOutOf(io, url, token, signal)
      problem = undefined
      return 0
    })
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    problem = error.message
  }
  return problem
}
