import type { LoginProblem } from '../../../rules/accounts/login-problems.ts'
import type { ProvenIdentity } from '../users.ts'

/** State of a pending login in a browser. The browser stores it, sealed. */
export interface LoginFlow {
  readonly state: string
  readonly nonce: string
  /** RFC 7636 code verifier. */
  readonly verifier: string
}

/** The identity of a user, and the token for later checks of the account. */
export interface ProvenLogin {
  readonly identity: ProvenIdentity
  readonly refreshToken?: string
}

/** An identity provider. Its methods throw LoginErrors. */
export interface IdentityProvider {
  readonly id: string
  /** Returns the URL of the provider's login page, to which the browser is redirected. */
  begin(flow: LoginFlow): Promise<URL>
  /**
   * Returns the identity of the user who was redirected to `callback`, and the token for later checks. `callback`
   * contains the parameters that the provider added.
   */
  finish(callback: URL, flow: LoginFlow): Promise<ProvenLogin>
  /**
   * Asks the provider whether it still knows a user, and checks that the rules still admit the user. Returns false if
   * the provider or the rules refuse the user.
   */
  ask?(refreshToken: string, subject: string, asking: Asking): Promise<boolean>
}

/** A check of an account. */
export interface Asking {
  /** Signal after which no refresh token is used up any more. */
  readonly signal: AbortSignal
  /**
   * Stores the next refresh token. Called as soon as the provider has issued one, before anything else that can take
   * long or fail, because the provider does not accept the previous one again.
   */
  renewed(refreshToken: string): Promise<void>
}

/** A failed login with its reason; `detail` is only logged. */
export class LoginError extends Error {
  readonly problem: LoginProblem

  constructor(problem: LoginProblem, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.problem = problem
  }
}
