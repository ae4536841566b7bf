import type { LoginProblem } from '../../../rules/accounts/login-problems.ts'
import type { ProvenIdentity } from '../users.ts'

/** A pending login of a browser; the browser keeps it, sealed. */
export interface LoginFlow {
  readonly state: string
  readonly nonce: string
  /** RFC 7636. */
  readonly verifier: string
}

/** The identity of a user, and the token for later questions about them. */
export interface ProvenLogin {
  readonly identity: ProvenIdentity
  readonly refreshToken?: string
}

/** An identity provider. Its failures are LoginErrors. */
export interface IdentityProvider {
  readonly id: string
  /** The URL that the browser is redirected to. */
  begin(flow: LoginFlow, signal: AbortSignal): Promise<URL>
  /** The user who has returned to `callback`, with the parameters that the provider added to it. */
  finish(callback: URL, flow: LoginFlow, signal: AbortSignal): Promise<ProvenLogin>
  /**
   * Asks the provider whether it still knows a user, and checks that the rules still admit them. Returns the next
   * refresh token, or undefined if the provider or a rule refuses.
   */
  ask?(
    refreshToken: string,
    subject: string,
    signal: AbortSignal,
  ): Promise<{ readonly refreshToken: string } | undefined>
}

/** The reason why a login failed; `detail` is for the log. */
export class LoginError extends Error {
  readonly problem: LoginProblem

  constructor(problem: LoginProblem, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.problem = problem
  }
}
