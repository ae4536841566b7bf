import type { LoginProblem } from '../../rules/login-problems.ts'
import type { ProvenIdentity } from '../users.ts'

/** A login that is under way in a browser; the browser keeps it, sealed. */
export interface LoginFlow {
  readonly state: string
  readonly nonce: string
  /** RFC 7636. */
  readonly verifier: string
}

/** Who somebody is, and by what the provider can be asked about them later. */
export interface ProvenLogin {
  readonly identity: ProvenIdentity
  readonly refreshToken?: string
}

/** Where people have their accounts. What goes wrong is a LoginError. */
export interface IdentityProvider {
  readonly id: string
  /** The page to which the browser is sent. */
  begin(flow: LoginFlow, signal: AbortSignal): Promise<URL>
  /** Who has come back to `callback`, with what the provider has added to it. */
  finish(callback: URL, flow: LoginFlow, signal: AbortSignal): Promise<ProvenLogin>
  /**
   * Whether the provider still knows somebody, and the rules still admit them: the next refresh token, or undefined when it
   * refuses.
   */
  ask?(
    refreshToken: string,
    subject: string,
    signal: AbortSignal,
  ): Promise<{ readonly refreshToken: string } | undefined>
}

/** Why a login came to nothing; `detail` is for the log. */
export class LoginError extends Error {
  readonly problem: LoginProblem

  constructor(problem: LoginProblem, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.problem = problem
  }
}
